import { createServer } from 'node:http';
import { parentPort } from 'node:worker_threads';

/** A venue that immediately answers every quote with the same bytes, so that only the client is measured. */
const QUOTE = JSON.stringify({
  quote_id: '5d1f0c2a-b7aa-11ee-9c3e-0242ac120002',
  pair: 'btcusd',
  side: 'BUY',
  quantity: 0.25,
  amount: 15000.4375,
  date_quote: '2026-11-20T09:00:00.100Z',
  date_expiry: '2026-11-20T09:00:10.100Z',
  buy_price: 60001.75,
});

const server = createServer((request, response) => {
  request.resume().on('end', () => {
    response
      .writeHead(201, { 'content-type': 'application/json', 'content-length': QUOTE.length })
      .end(QUOTE);
  });
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
  if (typeof address === 'object') parentPort?.postMessage(address?.port);
});
