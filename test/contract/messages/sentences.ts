/** What the public reference of the Messages API promises, in our own words, by id; ../requirements.ts takes them in. */
export const messagesSentences = {
  'messages.route':
    'POST /v1/messages answers a conversation; its body names model, max_tokens and messages.',
  'messages.message':
    'An answer is a message: an id that begins with msg_, type message, role assistant, the model, content as a list of blocks.',
  'messages.roles':
    'Messages have the roles user and assistant, and content that is text or a list of blocks.',
  'messages.system': 'The system prompt is no message but a field of its own, text or a list of text blocks.',
  'messages.tool-use':
    'A call is a block tool_use with id, name and input as an object; the answer ends with tool_use.',
  'messages.tool-result':
    'A result is a block tool_result in a user message with tool_use_id and content, text or blocks; is_error marks a failure.',
  'messages.begun': 'A last message of the assistant is continued; the answer holds only what is new.',
  'messages.thinking':
    'Thinking is a block of its own with a signature, before the text, and clients send it back with the next request.',
  'messages.tool-choice': 'tool_choice is auto, any, none, or tool with the name of one.',
  'messages.parallel': 'Several calls may stand in one answer unless disable_parallel_tool_use is true.',
  'messages.stop-sequences':
    'stop_sequences end an answer; then stop_reason is stop_sequence and stop_sequence names the one that was met.',
  'messages.stop-reasons':
    'stop_reason is end_turn at the natural end, and max_tokens where the limit cut the answer.',
  'messages.usage':
    'usage counts input_tokens, output_tokens, cache_creation_input_tokens and cache_read_input_tokens; what was read from the cache is not in input_tokens.',
  'messages.events':
    'A stream is message_start, then each block as content_block_start, deltas and content_block_stop, then message_delta and message_stop, with any number of pings.',
  'messages.event-names': 'Each event of a stream is named after its type.',
  'messages.start': 'message_start carries the message with empty content and no stop_reason.',
  'messages.deltas':
    'Text comes as text_delta, thinking as thinking_delta and signature_delta, the input of a call as input_json_delta whose pieces joined are the JSON.',
  'messages.delta-usage': 'message_delta carries stop_reason, stop_sequence and the final usage.',
  'messages.stream-error': 'A failure within a stream is an event error with the same body as a refusal.',
  'messages.errors': 'A failure has type error, an error with type and message, and the request_id.',
  'messages.error-types':
    'Types of errors follow the status: 400 invalid_request_error, 401 authentication_error, 403 permission_error, 404 not_found_error, 413 request_too_large, 429 rate_limit_error.',
  'messages.key': 'The key comes in x-api-key.',
  'messages.versions': 'Requests name anthropic-version, and anthropic-beta where they use a beta.',
  'messages.request-id': 'Every answer names its request in the header request-id.',
  'messages.cache-control': 'cache_control may stand on blocks, tools and the request.',
  'messages.format': 'output_config.format asks for JSON of a schema.',
  'count-tokens.route':
    'POST /v1/messages/count_tokens takes the same conversation without max_tokens and answers input_tokens.',
} as const;
