/** Markdown as elements. Markup in it is shown as text, and an image as a link. */
import type { Token, Tokens } from 'marked';
import type { ComponentChildren, JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { blockReader } from './blocks.ts';
import { CodeBlock } from './code/code-block.tsx';
import type { MathToken } from './math/find-math.ts';
import { Formula } from './math/formula.tsx';
import { decoded, unescaped } from './plain-text.ts';

export function Markdown({ text, isGrowing = false }: { text: string; isGrowing?: boolean }) {
  const read = useMemo(blockReader, []);
  // Skips the comparison of unchanged elements, which is slow in long conversations.
  return useMemo(() => {
    const blocks = read(text);
    return (
      <div class={isGrowing ? 'prose growing' : 'prose'}>
        {blocks === null ? <p class="plain">{text}</p> : <Blocks tokens={blocks} />}
      </div>
    );
  }, [text, isGrowing]);
}

function Blocks({ tokens }: { tokens: readonly Token[] }) {
  return (
    <>
      {tokens.map((token, at) => (
        <Block key={at} token={token} />
      ))}
    </>
  );
}

function Block({ token }: { token: Token }) {
  switch (token.type) {
    case 'space':
    case 'def':
      return null;
    case 'heading':
      return <Heading depth={(token as Tokens.Heading).depth}>{inline(token)}</Heading>;
    case 'paragraph':
      return <p>{inline(token)}</p>;
    case 'text':
      // In a list, a text may contain others; in other places it is one line.
      return <>{inline(token)}</>;
    case 'code':
      return <CodeBlock text={(token as Tokens.Code).text} language={(token as Tokens.Code).lang ?? ''} />;
    case 'blockquote':
      return (
        <blockquote>
          <Blocks tokens={(token as Tokens.Blockquote).tokens} />
        </blockquote>
      );
    case 'list':
      return <List list={token as Tokens.List} />;
    case 'table':
      return <Table table={token as Tokens.Table} />;
    case 'math':
      return (
        <p>
          <MathText token={token as MathToken} />
        </p>
      );
    case 'hr':
      return <hr />;
    default:
      return <p class="plain">{token.raw}</p>;
  }
}

function Heading({ depth, children }: { depth: number; children: ComponentChildren }) {
  const Tag = `h${Math.min(6, depth + 2)}` as 'h3';
  return <Tag class={`depth-${depth}`}>{children}</Tag>;
}

function List({ list }: { list: Tokens.List }) {
  const items = list.items.map((item, at) => (
    <li key={at} class={item.task ? 'task' : undefined}>
      {item.task ? (
        <input type="checkbox" checked={item.checked === true} disabled aria-label="Done" />
      ) : null}
      <Blocks tokens={item.tokens.filter(({ type }) => type !== 'checkbox')} />
    </li>
  ));
  if (!list.ordered) return <ul>{items}</ul>;
  return <ol {...(typeof list.start === 'number' ? { start: list.start } : {})}>{items}</ol>;
}

function Table({ table }: { table: Tokens.Table }) {
  const cell = (content: Tokens.TableCell, at: number, Tag: 'th' | 'td') => (
    <Tag key={at} class={content.align === null ? undefined : `to-${content.align}`}>
      {inlines(content.tokens)}
    </Tag>
  );
  return (
    <div class="wide" role="region" aria-label="Table" tabIndex={0}>
      <table>
        <thead>
          <tr>{table.header.map((each, at) => cell(each, at, 'th'))}</tr>
        </thead>
        <tbody>
          {table.rows.map((row, at) => (
            <tr key={at}>{row.map((each, column) => cell(each, column, 'td'))}</tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function inline(token: Token): ComponentChildren {
  const { tokens } = token as { tokens?: Token[] };
  return tokens === undefined ? plainOf(token) : inlines(tokens);
}

const inlines = (tokens: readonly Token[]): JSX.Element[] =>
  tokens.map((token, at) => <Inline key={at} token={token} />);

function Inline({ token }: { token: Token }) {
  switch (token.type) {
    case 'strong':
      return <strong>{inline(token)}</strong>;
    case 'em':
      return <em>{inline(token)}</em>;
    case 'del':
      return <del>{inline(token)}</del>;
    case 'codespan':
      return <code>{(token as Tokens.Codespan).text}</code>;
    case 'br':
      return <br />;
    case 'link':
      return <Link href={(token as Tokens.Link).href}>{inline(token)}</Link>;
    case 'image':
      return (
        <Link
          href={(token as Tokens.Image).href}
        >{`image: ${(token as Tokens.Image).text || 'unnamed'}`}</Link>
      );
    case 'math':
      return <MathText token={token as MathToken} />;
    case 'escape':
      return <>{unescaped(token.raw)}</>;
    case 'text':
      return <>{inline(token)}</>;
    default:
      return <>{token.raw}</>;
  }
}

function Link({ href, children }: { href: string; children: ComponentChildren }) {
  const address = safeAddress(href);
  if (address === null) {
    return (
      <span class="no-link" title={href.slice(0, 200)}>
        {children}
      </span>
    );
  }
  return (
    <a href={address} target="_blank" rel="noopener noreferrer nofollow" title={address}>
      {children}
    </a>
  );
}

const MathText = ({ token: { text, raw, isDisplayed } }: { token: MathToken }) => (
  <Formula text={text} raw={raw} isDisplayed={isDisplayed} />
);

const plainOf = (token: Token): string => decoded((token as { text?: string }).text ?? token.raw);

/** A link of a model may lead to a page or to mail, if the user clicks it. */
const SCHEMES = new Set(['http:', 'https:', 'mailto:']);
const MOST_CHARS = 2048;

/** Null if it is not a link here. Relative addresses would lead to this service. */
export function safeAddress(href: string): string | null {
  if (href.length > MOST_CHARS) return null;
  try {
    const url = new URL(href);
    // A name before an @ makes one host look like another.
    const isDisguised = url.username !== '' || url.password !== '';
    return SCHEMES.has(url.protocol) && !isDisguised ? url.href : null;
  } catch {
    return null;
  }
}
