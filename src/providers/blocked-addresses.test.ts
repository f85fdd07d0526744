import { expect, test } from 'vitest';
import { blockedAddressCode, guardedLookup, isBlockedHost } from './blocked-addresses.ts';

test.each([
  '169.254.169.254',
  '169.254.170.2',
  '[fe80::1]',
  'fe80::abcd',
  '[::ffff:169.254.169.254]',
  '[64:ff9b::a9fe:a9fe]',
  'fd00:ec2::254',
  '100.100.100.200',
  'Metadata.Google.Internal.',
])('blocks %s', (host) => {
  expect(isBlockedHost(host)).toBe(true);
});

test.each(['127.0.0.1', '[::1]', '10.0.0.5', '192.168.1.1', 'localhost', 'api.openai.com', '169.253.1.1', 'fd12::1'])(
  'allows %s',
  (host) => {
    expect(isBlockedHost(host)).toBe(false);
  },
);

const lookUp = (host: string, all: boolean): Promise<unknown> =>
  new Promise((resolve) => guardedLookup()(host, { all }, (error, address) => resolve(error?.code ?? address)));

test('blocks what a name resolves to, whichever way it is asked', async () => {
  expect(await lookUp('169.254.169.254', true)).toBe(blockedAddressCode);
  expect(await lookUp('169.254.169.254', false)).toBe(blockedAddressCode);
  expect(await lookUp('127.0.0.1', false)).toBe('127.0.0.1');
  expect(await lookUp('127.0.0.1', true)).toEqual([{ address: '127.0.0.1', family: 4 }]);
});
