import type { UsdMicros } from '../domain/ids.ts';
import type { RateHints, Reply } from '../domain/reply.ts';
import type { Vendor } from './failure-rules.ts';
import type { HttpResponse } from './http-client.ts';
import type { PriceFunction } from './prices.ts';
import type { ReplyDraft, WireFormat } from './wire-format.ts';

/** Who answered. */
interface Answering {
  readonly vendor: Vendor;
  readonly model: string;
  readonly format: WireFormat;
}

/** A draft as the reply that everybody else sees: cost, flags, and text that is safe to keep. */
export function finishReply(
  draft: ReplyDraft,
  response: HttpResponse,
  hints: RateHints,
  price: PriceFunction,
  provider: Answering,
): Reply {
  const { text, output, usage } = draft;
  const cost = costOf(draft, price);
  const isWell = text.isWellFormed();
  const reply: Writable<Reply> = {
    kind: 'reply',
    text: isWell ? text : text.toWellFormed(),
    output: typeof output === 'string' && !output.isWellFormed() ? output.toWellFormed() : output,
    toolCalls: draft.toolCalls ?? [],
    finishReason: draft.finishReason,
    hints,
    status: response.status,
    raw: response.text,
    flags: flagsOf(draft, response, provider, isWell),
    cached: false,
  };
  if (usage !== undefined) reply.usage = usage;
  if (cost !== undefined) reply.costUsdMicros = cost;
  if (draft.reasoning !== undefined) reply.reasoning = draft.reasoning;
  if (draft.finishReasonRaw !== undefined) reply.finishReasonRaw = draft.finishReasonRaw;
  if (draft.servedModel !== undefined) reply.servedModel = draft.servedModel;
  if (draft.fingerprint !== undefined) reply.fingerprint = draft.fingerprint;
  if (draft.embedding !== undefined) reply.embedding = draft.embedding;
  if (draft.scores !== undefined) reply.scores = draft.scores;
  if (draft.flagged !== undefined) reply.flagged = draft.flagged;
  if (draft.metadata !== undefined) reply.metadata = draft.metadata;
  if (response.bytes !== undefined) reply.rawBytes = Buffer.from(response.bytes).toString('base64');
  return reply;
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };

/** Words that took no tokens: the count is wrong, and the price unknown, unless the model is free. */
function costOf(draft: ReplyDraft, price: PriceFunction): UsdMicros | undefined {
  if (draft.usage === undefined) return undefined;
  if (!miscounts(draft)) return price(draft.usage);
  return price({ inputTokens: 1, outputTokens: 1 }) === 0 ? 0 : undefined;
}

const miscounts = ({ usage, text, toolCalls = [] }: ReplyDraft): boolean =>
  usage?.inputTokens === 0 && usage.outputTokens === 0 && (text !== '' || toolCalls.length > 0);

function flagsOf(draft: ReplyDraft, response: HttpResponse, provider: Answering, isWell: boolean): readonly string[] {
  const flags = draft.flags === undefined ? [] : [...draft.flags];
  const { usage } = draft;
  if (response.bytes !== undefined) flags.push('invalid-utf8');
  if (!isWell) flags.push('lone-surrogates');
  if (draft.text.includes('\0')) flags.push('nul-in-text');
  if (usage?.inputTokens === undefined || usage.outputTokens === undefined) flags.push('usage-missing');
  if (!namesNoModel.has(provider.vendor) && isSubstituted(provider.model, draft.servedModel))
    flags.push('model-substituted');
  const type = response.headers['content-type'];
  if (provider.format.anyBody !== true && !(typeof type === 'string' && type.includes('json')))
    flags.push('wrong-content-type');
  if (miscounts(draft)) flags.push('usage-zero');
  return flags;
}

/** A deployment's or an address's name says nothing about the model behind it. */
const namesNoModel = new Set<Vendor>(['http', 'azure']);

/** A dated or prefixed name of the same model is no substitution. */
function isSubstituted(asked: string, served: string | undefined): boolean {
  if (served === undefined || served === '' || served === asked) return false;
  const a = asked.split('/').at(-1)?.toLowerCase() ?? '';
  const b = served.split('/').at(-1)?.toLowerCase() ?? '';
  return !(a.startsWith(b) || b.startsWith(a));
}
