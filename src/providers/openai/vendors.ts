import type { AccountingName } from '../accounting.ts';
import type { Vendor } from '../failure-rules.ts';
import type { HintDialect } from '../hint-headers.ts';
import type { ChatTraits } from './chat-body.ts';

/** A vendor that speaks OpenAI's format, as data. */
export interface OpenAiVendor {
  /** What stands before the first colon of an id. */
  readonly prefix: string;
  readonly baseUrl: string;
  /** Put after a base URL that came from a variable or `workspaceUrl`. */
  readonly basePath?: string;
  readonly baseUrlVariables: readonly string[];
  readonly hostVariables?: readonly string[];
  readonly keyVariables: readonly string[];
  /** Local servers need no key. */
  readonly keyOptional?: boolean;
  readonly accounting: AccountingName;
  readonly dialect?: HintDialect;
  readonly failures?: Vendor;
  /** The vendor's name in the price table. */
  readonly prices?: string;
  readonly ceiling?: number;
  readonly traits?: ChatTraits;
  readonly defaultModel?: string;
  /** No model named: which kinds of id it has besides chat. */
  readonly kinds?: readonly string[];
}

const row = (prefix: string, baseUrl: string, keyVariable: string, rest: Partial<OpenAiVendor> = {}): OpenAiVendor => {
  const variable = prefix.toUpperCase().replaceAll('-', '_');
  return {
    prefix,
    baseUrl,
    baseUrlVariables: [`${variable}_API_BASE_URL`, `${variable}_BASE_URL`],
    keyVariables: [keyVariable],
    accounting: 'plain',
    ...rest,
  };
};

const groqReasons = (model: string): boolean => /gpt-oss|qwen/.test(model);
const grokReasons = (model: string): boolean => /^grok-(?:3-mini|4)/.test(model) && !/non-reasoning/.test(model);
const kimiPins = (model: string): boolean => /^kimi-(?:k[23]|latest|thinking)/i.test(model);

/** Every vendor with the OpenAI format. A new one is a new row. */
export const openaiVendors: readonly OpenAiVendor[] = [
  row('openai', 'https://api.openai.com/v1', 'OPENAI_API_KEY', {
    hostVariables: ['OPENAI_API_HOST'],
    accounting: 'openai',
    prices: 'openai',
  }),
  row('groq', 'https://api.groq.com/openai/v1', 'GROQ_API_KEY', {
    accounting: 'groq',
    dialect: 'groq',
    failures: 'groq',
    prices: 'groq',
    traits: {
      reasoning: groqReasons,
      temperature: groqReasons,
      extra: ['reasoning_format', 'include_reasoning', 'compound_custom', 'search_settings'],
    },
  }),
  row('mistral', 'https://api.mistral.ai/v1', 'MISTRAL_API_KEY', {
    hostVariables: ['MISTRAL_API_HOST'],
    prices: 'mistral',
    traits: { noDefaults: true, extra: ['safe_prompt', 'random_seed', 'parallel_tool_calls', 'n', 'prediction'] },
  }),
  row('openrouter', 'https://openrouter.ai/api/v1', 'OPENROUTER_API_KEY', {
    failures: 'openrouter',
    prices: 'openrouter',
    traits: { extra: ['transforms', 'models', 'route', 'provider'], callsFirst: true },
  }),
  row('togetherai', 'https://api.together.xyz/v1', 'TOGETHER_API_KEY', {
    baseUrlVariables: ['TOGETHER_API_BASE_URL', 'TOGETHER_BASE_URL', 'TOGETHERAI_BASE_URL'],
    dialect: 'together',
    prices: 'together',
  }),
  row('deepseek', 'https://api.deepseek.com/v1', 'DEEPSEEK_API_KEY', {
    accounting: 'concurrency',
    prices: 'deepseek',
    defaultModel: 'deepseek-chat',
  }),
  row('xai', 'https://api.x.ai/v1', 'XAI_API_KEY', {
    accounting: 'xai',
    prices: 'x-ai',
    traits: { reasoning: grokReasons, temperature: () => true, extra: ['search_parameters'] },
  }),
  row('cerebras', 'https://api.cerebras.ai/v1', 'CEREBRAS_API_KEY', { prices: 'cerebras' }),
  row('fireworks', 'https://api.fireworks.ai/inference/v1', 'FIREWORKS_API_KEY', { prices: 'fireworks' }),
  row('perplexity', 'https://api.perplexity.ai', 'PERPLEXITY_API_KEY', {
    prices: 'perplexity',
    defaultModel: 'sonar',
    traits: {
      extra: [
        'search_domain_filter',
        'search_recency_filter',
        'search_mode',
        'web_search_options',
        'return_images',
        'return_related_questions',
      ],
    },
  }),
  row('nvidia', 'https://integrate.api.nvidia.com/v1', 'NVIDIA_API_KEY'),
  row('databricks', '', 'DATABRICKS_TOKEN', {
    baseUrlVariables: ['DATABRICKS_WORKSPACE_URL'],
    basePath: '/serving-endpoints',
  }),
  row('docker', 'http://localhost:12434/engines/v1', 'DOCKER_MODEL_RUNNER_API_KEY', {
    baseUrlVariables: ['DOCKER_MODEL_RUNNER_BASE_URL'],
    basePath: '/engines/v1',
    keyOptional: true,
    accounting: 'concurrency',
    ceiling: 4,
  }),
  row('moonshot', 'https://api.moonshot.ai/v1', 'MOONSHOT_API_KEY', {
    prices: 'moonshotai',
    traits: { reasoning: kimiPins, temperature: () => true, noDefaults: true },
  }),
  row('hyperbolic', 'https://api.hyperbolic.xyz/v1', 'HYPERBOLIC_API_KEY', {
    traits: { reasoning: (model) => /DeepSeek-R1|QwQ/.test(model), temperature: () => true },
  }),
  row('cometapi', 'https://api.cometapi.com/v1', 'COMETAPI_KEY'),
  row('atlascloud', 'https://api.atlascloud.ai/v1', 'ATLASCLOUD_API_KEY'),
  row('abliteration', 'https://api.abliteration.ai/v1', 'ABLIT_KEY', { baseUrlVariables: ['ABLIT_API_BASE_URL'] }),
  row('github', 'https://models.github.ai/inference', 'GITHUB_TOKEN', { defaultModel: 'openai/gpt-5' }),
  row('litellm', 'http://0.0.0.0:4000', 'LITELLM_API_KEY', {
    baseUrlVariables: ['LITELLM_API_BASE', 'LITELLM_BASE_URL'],
    keyOptional: true,
    traits: { noDefaults: true },
  }),
  row('localai', 'http://localhost:8080/v1', 'LOCALAI_API_KEY', {
    keyOptional: true,
    accounting: 'concurrency',
    ceiling: 4,
  }),
  row('vllm', 'http://localhost:8000/v1', 'VLLM_API_KEY', { keyOptional: true, accounting: 'concurrency' }),
];
