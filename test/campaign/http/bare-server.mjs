// What node:http alone takes to refuse: the measure of what a flood costs on this machine, whoever answers it.
import { createServer } from 'node:http';

const body = JSON.stringify({ error: 'The queue is full.', message: 'The queue is full.' });
const server = createServer((request, response) => {
  response.writeHead(429, { 'Content-Type': 'application/json', 'Content-Length': body.length });
  response.end(body);
  request.resume();
});
server.listen(0, '127.0.0.1', () => process.stdout.write(`${server.address().port}\n`));
