/** What the public reference of the Responses API promises, in our own words, by id; ../requirements.ts takes them in. */
export const responsesSentences = {
  'responses.route': 'POST /v1/responses answers an input, which is text or a list of items.',
  'responses.body':
    'An answer is an object response with an id that begins with resp_, created_at, status, model, output and usage.',
  'responses.message': 'Text is an item message of role assistant whose content has parts output_text.',
  'responses.roles': 'Messages of the input have the roles user, assistant, system or developer.',
  'responses.instructions': 'instructions are the system prompt of this response alone.',
  'responses.function-call':
    'A call is an item function_call with call_id, name and arguments as JSON text; its result is an item function_call_output.',
  'responses.custom': 'A custom tool takes free text: its call is an item custom_tool_call with input.',
  'responses.parallel': 'Several calls may stand in one answer unless parallel_tool_calls is false.',
  'responses.tool-choice':
    'tool_choice is none, auto, required, one tool by name, or a list of allowed tools.',
  'responses.reasoning':
    'Thinking is an item reasoning, before the message, and may be sent back with the next input.',
  'responses.encrypted':
    'include reasoning.encrypted_content adds the thinking in a form that only needs to be sent back.',
  'responses.format': 'text.format asks for text, json_object, or json_schema with name and schema.',
  'responses.status':
    'status is completed, or incomplete with incomplete_details where a limit cut the answer.',
  'responses.usage':
    'usage counts input_tokens with cached_tokens, output_tokens with reasoning_tokens, and total_tokens.',
  'responses.background':
    'With background the answer comes at once as queued; GET tells its status until it is over, and it can be cancelled.',
  'responses.background-lost':
    'A response in the background whose process ended is failed with a reason, and never waited for in vain.',
  'responses.store': 'A response is stored unless store is false; GET returns it and DELETE removes it.',
  'responses.previous': 'previous_response_id continues the conversation of a stored response.',
  'responses.missing': 'An id that is not stored is a 404.',
  'responses.input-items': 'The items that led to a response can be listed, the newest first.',
  'responses.cancel': 'A response that runs can be cancelled.',
  'responses.events':
    'A stream is response.created and response.in_progress, then each item added, told in parts and deltas, and done, then response.completed or response.incomplete.',
  'responses.sequence': 'Every event of a stream has a sequence_number that counts from 0.',
  'responses.call-events':
    'The arguments of a call come as response.function_call_arguments.delta and .done; free text as response.custom_tool_call_input.delta and .done.',
  'responses.failed': 'A failure within a stream is response.failed, with the failure in the response.',
  'responses.errors': 'A refusal has an error with message, type, param and code.',
  'responses.hosted': 'Tools that run at the provider are named by their type.',
  'responses.input-tokens': 'POST /v1/responses/input_tokens answers how many tokens the input has.',
} as const;
