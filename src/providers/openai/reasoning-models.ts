/** Which OpenAI models take `max_completion_tokens` and no temperature, by name: nothing on the wire tells. */

const baseName = (model: string): string => model.replace(/(^|\/)ft:/, '$1');

export const isGpt5 = (model: string): boolean => /(?:^|\/)gpt-5/.test(baseName(model));

export const isOSeries = (model: string): boolean => /(?:^|\/)o[134]/.test(baseName(model));

export const isReasoningModel = (model: string): boolean => isGpt5(model) || isOSeries(model);

/** Models that only the responses API serves: a bare `openai:<model>` of these goes there. */
export const isResponsesOnly = (model: string): boolean =>
  /^(?:computer-use-preview|o1-pro|o3-pro|gpt-5(?:\.\d)?-codex|gpt-5(?:\.\d)?-pro|o3-deep-research|o4-mini-deep-research|codex-mini)/.test(
    model,
  );

export const isCompletionModel = (model: string): boolean =>
  /^(?:gpt-3\.5-turbo-instruct|davinci-002|babbage-002|text-davinci)/.test(model);
