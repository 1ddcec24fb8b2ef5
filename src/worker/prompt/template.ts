import type { KnownTemplate } from '../../../packages/chat-templates/src/form/known-templates.ts';
import * as templates from '../../../packages/chat-templates/src/template.ts';
import { TemplateError } from '../../../packages/chat-templates/src/template-error.ts';
import { fail } from '../../lib/errors/svc-error.ts';

export type ChatTemplate = templates.ChatTemplate;

export function openTemplate(source: string | undefined): ChatTemplate {
  return withFailures(templates.openTemplate(source));
}

export function openKnownTemplate(known: KnownTemplate): ChatTemplate {
  return withFailures(templates.openKnownTemplate(known));
}

function withFailures({ render, ...template }: ChatTemplate): ChatTemplate {
  return {
    ...template,
    render: (variables) => {
      try {
        return render(variables);
      } catch (error) {
        if (!(error instanceof TemplateError)) throw error;
        throw fail('template_failed', { reason: error.message }, error);
      }
    },
  };
}
