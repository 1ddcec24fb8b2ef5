/** ui/chat/entry owns how one message is shown, and its actions. It does not know its place on the page. */
import { AnswerView } from './answer-view.tsx';
import { PromptView } from './prompt-view.tsx';
import type { EntryFacts } from './entry-facts.ts';

export function EntryView(props: EntryFacts) {
  switch (props.entry.role) {
    case 'user':
      return <PromptView {...props} />;
    case 'tool':
      return <ToolResult {...props} />;
    case 'assistant':
      return <AnswerView {...props} />;
  }
}

function ToolResult({ entry }: EntryFacts) {
  return (
    <li class="entry tool">
      <p class="who">Result</p>
      <pre tabIndex={0}>{entry.text}</pre>
    </li>
  );
}
