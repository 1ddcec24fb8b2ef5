/** What a hostile model may write: markup, links, pictures and odd nesting that must stay text. */
const HOST = 'https://evil.example';

const MARKUP = [
  '<script>window.broken = 1</script>',
  '<img src=x onerror="window.broken = 1">',
  `<img src="${HOST}/a.png">`,
  '<svg onload="window.broken = 1"></svg>',
  '<svg><script>window.broken = 1</script></svg>',
  '<iframe src="javascript:window.broken = 1"></iframe>',
  `<iframe srcdoc="<script>parent.broken = 1</script>"></iframe>`,
  '<a href="javascript:window.broken = 1">here</a>',
  '<body onload="window.broken = 1">',
  '<details open ontoggle="window.broken = 1">x</details>',
  '<video><source onerror="window.broken = 1"></video>',
  '<input autofocus onfocus="window.broken = 1">',
  '<style>@import url("https://evil.example/a.css");</style>',
  `<link rel="stylesheet" href="${HOST}/a.css">`,
  `<meta http-equiv="refresh" content="0;url=${HOST}">`,
  `<base href="${HOST}/">`,
  `<form action="${HOST}"><button>Send</button></form>`,
  `<object data="${HOST}/a.swf"></object>`,
  '<math><mtext><script>window.broken = 1</script></mtext></math>',
  '<template><script>window.broken = 1</script></template>',
  '<noscript><p title="</noscript><img src=x onerror=window.broken=1>">',
  '<!--><img src=x onerror=window.broken=1>-->',
  '<![CDATA[<img src=x onerror=window.broken=1>]]>',
  '<a\nhref="javascript:window.broken=1">x</a>',
  '<div style="background:url(https://evil.example/a.png)">x</div>',
];

const LINKS = [
  '[x](javascript:window.broken=1)',
  '[x](JaVaScRiPt:window.broken=1)',
  '[x](java\tscript:window.broken=1)',
  '[x](&#106;avascript:window.broken=1)',
  '[x](javascript&colon;window.broken=1)',
  '[x](  javascript:window.broken=1)',
  '[x](data:text/html,<script>window.broken=1</script>)',
  '[x](data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==)',
  '[x](vbscript:msgbox)',
  '[x](file:///etc/passwd)',
  '[x](blob:https://evil.example/1)',
  '[x](/svc/unload)',
  '[x](//evil.example)',
  '[x](#/proof)',
  '[x](https://127.0.0.1:8740@evil.example/)',
  '[x](<javascript:window.broken=1>)',
  '[x][1]\n\n[1]: javascript:window.broken=1',
  '<javascript:window.broken=1>',
  '[x](https://evil.example "a\\" onmouseover=window.broken=1 b")',
  '[<img src=x onerror=window.broken=1>](https://evil.example)',
  'https://evil.example/?q=<script>window.broken=1</script>',
];

const PICTURES = [
  `![x](${HOST}/a.png)`,
  '![x](data:image/svg+xml,<svg onload=window.broken=1>)',
  '![x](javascript:window.broken=1)',
  `[![x](${HOST}/a.png)](${HOST})`,
  `![<script>window.broken=1</script>](${HOST}/a.png)`,
  '![x][p]\n\n[p]: https://evil.example/a.png',
];

const FORMS = [
  '```html\n<script>window.broken = 1</script>\n```',
  '```"><img src=x onerror=window.broken=1>\ntext\n```',
  '`<img src=x onerror=window.broken=1>`',
  '| a | b |\n|---|---|\n| <img src=x onerror=window.broken=1> | [x](javascript:window.broken=1) |',
  '- [ ] <img src=x onerror=window.broken=1>',
  '> <script>window.broken = 1</script>',
  '# <img src=x onerror=window.broken=1>',
  `${'> '.repeat(5000)}deep`,
  '['.repeat(20_000),
  `${'*'.repeat(20_000)}x`,
  `${'- '.repeat(3000)}x`,
  `\u202e<script>window.broken = 1</script>\u0000`,
];

export const PAYLOADS: readonly string[] = [...MARKUP, ...LINKS, ...PICTURES, ...FORMS];
