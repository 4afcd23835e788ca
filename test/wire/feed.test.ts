import { describe, expect, it } from 'vitest';
import { text } from '../../src/core/money.ts';
import { readFeed, stampTime } from '../../src/wire/feeds/feed.ts';
import { readFeedRequest } from '../../src/wire/feeds/feed-requests.ts';

const ticker = '{"last":60000.10000000000000000001,"volume":"1e-8"}';

describe('a WebSocket message', () => {
  it.each([
    ['a recipient', `{"recipient":"ticker.sfox.btcusd","sequence":3,"timestamp":1700000000000000000,"payload":${ticker}}`],
    ['the fields of the specification', `{"type":"data","action":"ticker.sfox.btcusd","sequence":3,"timestamp":1700000000000000000,"payload":${ticker}}`],
    ['a recipient and the fields of the specification', `{"type":"success","action":"message","recipient":"ticker.sfox.btcusd","sequence":"3","timestamp":"1700000000000","payload":${ticker}}`],
    ['a payload that is text', `{"recipient":"ticker.sfox.btcusd","sequence":3,"timestamp":1700000000000000,"payload":${JSON.stringify(ticker)}}`],
  ])('is data if it has %s', (_, source) => {
    const message = readFeed(source);
    expect(message).toMatchObject({ kind: 'data', feed: 'ticker.sfox.btcusd', sequence: 3, sentAt: 1_700_000_000_000 });
    if (message.kind !== 'data' || message.data.of !== 'ticker') throw new Error('expected a ticker');
    expect(text(message.data.ticker.last)).toBe('60000.10000000000000000001');
  }); // prettier-ignore

  it.each([
    ['numbers', '"quantity":0.5,"price":60000.01'],
    ['text', '"quantity":"0.5","price":"60000.01"'],
    ['an exponent', '"quantity":5e-1,"price":6.000001e4'],
  ])('can have amounts as %s', (_, amounts) => {
    const source = `{"recipient":"trades.sfox.btcusd","payload":{"id":7,"side":"Buy",${amounts}}}`;
    expect(readFeed(source)).toMatchObject({ kind: 'data', data: { of: 'trade' } });
  });

  it.each([
    ['private.user.balances', '[{"currency":"USD","balance":"1","available":"0.5"}]', 'balances'],
    ['private.user.balances', '{"address":"0x0","balance":"1","network":"eth","type":"web3"}', 'balances'],
    ['private.user.open-orders', '{"id":1,"status":"Started","pair":"btcusd","action":"Sell"}', 'orders'],
    ['orderbook.sfox.btcusd', '{"bids":[[59999.99,0.12345678,"a"],["59999.5","1e-08","b"]],"asks":[]}', 'book'],
    ['private.user.trades', '[]', 'fills'],
    ['private.user.post-trade-settlement', '{"enabled":true,"equity":"1","liquidation_level":2}', 'settlement'],
    ['private.enterprise.users.balances', '{"user_id":"u"}', 'unknown'],
  ])('is data in the feed %s with the payload %s', (feed, payload, of) => {
    expect(readFeed(`{"recipient":"${feed}","payload":${payload}}`)).toMatchObject({ kind: 'data', data: { of } });
  }); // prettier-ignore

  it.each([
    ['success', '{"type":"success","sequence":1,"payload":{"action":"authenticate"},"action":"authenticate"}', 'authenticate'],
    ['error', '{"type":"error","payload":{"action":"subscribe","error":"unknown feed"}}', 'subscribe'],
    ['error', '{"type":"error"}', 'do what was asked'],
  ])('is an answer of type %s: %s', (kind, source, action) => {
    expect(readFeed(source)).toMatchObject({ kind, action });
  }); // prettier-ignore

  it.each([
    ['invalid JSON', '{"recipient"'],
    ['a list', '[1]'],
    ['null', 'null'],
    ['neither recipient nor type', '{"payload":{}}'],
    ['a price of zero', '{"recipient":"ticker.sfox.btcusd","payload":{"last":0}}'],
    ['no price', '{"recipient":"ticker.sfox.btcusd","payload":{"last":"Infinity"}}'],
    ['too many digits', `{"recipient":"ticker.sfox.btcusd","payload":{"last":1${'0'.repeat(99)}}}`],
    ['deeply nested lists', `{"recipient":"ticker.sfox.btcusd","payload":${'['.repeat(400_000)}`],
    [
      'deeply nested JSON in text',
      `{"recipient":"ticker.sfox.btcusd","payload":${JSON.stringify('{"a":'.repeat(99))}}`,
    ],
    ['an endless string of escaped quotes', `{"recipient":"${'\\"'.repeat(300_000)}`],
  ])('is unreadable with %s', (_, source) => {
    expect(readFeed(source).kind).toBe('unreadable');
  });

  it('can contain brackets and lone surrogates inside strings', () => {
    const source = `{"recipient":"ticker.sfox.btcusd","payload":{"last":1,"exchange":"${'['.repeat(99)}\\"{\\ud800"}}`;
    expect(readFeed(source)).toMatchObject({ kind: 'data' });
  });
});

describe('the timestamp of a WebSocket message', () => {
  it.each([
    [1_700_000_000_000_000_000, 1_700_000_000_000],
    [1_700_000_000_123_456, 1_700_000_000_123],
    [1_700_000_000_123, 1_700_000_000_123],
    [1_700_000_000, 1_700_000_000_000],
    [0, undefined],
    [-1, undefined],
    ['x', undefined],
    [Number.NaN, undefined],
  ])('is read from %d as %d', (stamp, at) => {
    expect(stampTime(stamp)).toBe(at);
  });
});

describe('a WebSocket request', () => {
  it.each([
    ['{"type":"authenticate","apiKey":"k","enterprise":"true"}', { type: 'authenticate' }],
    ['{"type":"subscribe","feeds":["a"]}', { type: 'subscribe', feeds: ['a'] }],
    ['{"type":"subscribe","feeds":"a"}', { type: 'unreadable', action: 'subscribe' }],
    ['{"type":"__proto__"}', { type: 'unreadable', action: 'unknown' }],
    ['[', { type: 'unreadable', action: 'unknown' }],
  ])('is parsed from %s', (source, expected) => {
    expect(readFeedRequest(source)).toMatchObject(expected);
  });
});
