import type { FaultAct } from '../fault-act.ts';
import type { FaultKind } from '../fault-kinds.ts';
import type { ServerReply } from '../replies.ts';
import type { ErrorClass, ReplyQuirks } from '../wires/wire.ts';

const odd =
  (quirks: ReplyQuirks, reply: ServerReply = {}) =>
  (): FaultAct => ({ do: 'reply', quirks, reply });
const ends = (finish: NonNullable<ServerReply['finish']>, text: string) => (): FaultAct => ({
  do: 'reply',
  reply: { finish, text },
});
const failed = (status: number, error: ErrorClass, message: string) => (): FaultAct => ({
  do: 'error',
  error: { status, class: error, message },
});

/** Two hours off: what a signature made with a wrong clock is told, with the server's own time beside it. */
const skewed = (): FaultAct => ({
  do: 'error',
  error: {
    status: 403,
    class: 'skewed_clock',
    message: 'Signature expired: 20260101T000000Z is now earlier than now.',
  },
});

export const semanticFaults: readonly FaultKind[] = [
  {
    kind: 52,
    group: 'semantics',
    title: 'usage missing, zero or negative',
    variants: { absent: odd({ usage: 'absent' }), zero: odd({ usage: 'zero' }), negative: odd({ usage: 'negative' }) },
  },
  { kind: 53, group: 'semantics', title: 'no choices', variants: { empty: odd({ empty: true }) } },
  {
    kind: 54,
    group: 'semantics',
    title: 'no content, only reasoning',
    variants: { reasoning: odd({ nullContent: true }, { reasoning: 'I thought about it.' }) },
  },
  {
    kind: 55,
    group: 'semantics',
    title: 'content filter',
    variants: {
      finish: ends('content_filter', 'I was going to'),
      status: failed(400, 'content_filter', 'The response was filtered by the content management policy.'),
    },
  },
  {
    kind: 56,
    group: 'semantics',
    title: 'refusal',
    variants: { refusal: ends('refusal', 'I cannot help with that.') },
  },
  {
    kind: 57,
    group: 'semantics',
    title: 'cut at max_tokens',
    variants: { length: ends('length', 'This goes on and') },
  },
  {
    kind: 58,
    group: 'semantics',
    title: 'context overflow',
    variants: { '400': failed(400, 'context_length', 'prompt is too long: 250000 tokens > 200000 maximum') },
  },
  {
    kind: 59,
    group: 'semantics',
    title: 'a key that is not accepted',
    variants: {
      '401': failed(401, 'auth', 'Incorrect API key provided'),
      '403': failed(403, 'auth', 'This key may not use this model'),
    },
  },
  {
    kind: 60,
    group: 'semantics',
    title: 'a region that is not served',
    variants: { '403': failed(403, 'region', 'Country, region, or territory not supported') },
  },
  {
    kind: 61,
    group: 'semantics',
    title: 'no such model',
    variants: {
      missing: failed(404, 'not_found', 'The model does not exist'),
      substituted: () => ({ do: 'reply', reply: { model: 'newer-model-2' } }),
    },
  },
  {
    kind: 62,
    group: 'semantics',
    title: 'another error of the client',
    variants: {
      '400': failed(400, 'invalid', "Unknown parameter: 'temprature'"),
      '422': failed(422, 'invalid', "Unknown parameter: 'temprature'"),
    },
  },
  {
    kind: 63,
    group: 'semantics',
    title: 'served model differs, or an old answer comes again',
    variants: {
      model: () => ({ do: 'reply', reply: { model: 'another-model' } }),
      replayed: () => ({ do: 'reply', replayed: true }),
    },
  },
  { kind: 64, group: 'semantics', title: 'a signature that is too old', variants: { skew: skewed } },
];
