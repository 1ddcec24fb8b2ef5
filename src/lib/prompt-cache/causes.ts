/** Why the beginning of a prompt is not that of the one before, by name, and what would have kept it. */
export const CHANGE_CAUSES = {
  volatile_line:
    'Leave the line out of the system prompt, or let SVC_VOLATILE_LINES=drop do it where it knows the line.',
  timestamp: 'Give the time in the last user message, or to the day only.',
  tools_reordered: 'Send the tools in the same order each time.',
  tools_changed: 'Send the same tools each time; allow fewer of them by tool_choice instead.',
  thinking_dropped:
    'Send the thinking back with the answer (reasoning_content, thinking blocks, reasoning items); if the client does, the template of the model leaves it out.',
  answer_retokenised: 'Send answers back as they were given, white space included.',
  text_changed: 'Append to a conversation; do not rewrite what was sent.',
} as const;

export type ChangeCause = keyof typeof CHANGE_CAUSES;
export const CHANGE_CAUSE_NAMES = Object.keys(CHANGE_CAUSES) as ChangeCause[];
