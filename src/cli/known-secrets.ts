/** Values of the environment that are secrets by their names: what every output of ours is kept free of. */

const secretName = /(?:^|_)(?:API_?KEY|KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?|ACCESS_KEY(?:_ID)?)(?:$|_)/i;
/** Names that look like it and are not: they hold names, files and numbers. */
const harmless = /(?:_FILE|_PATH|_ENVAR|_COUNT|_LIMIT|_LENGTH)$/i;

export const isSecretName = (name: string): boolean => secretName.test(name) && !harmless.test(name);

export const secretsOf = (env: Readonly<Record<string, string | undefined>>): string[] =>
  Object.entries(env).flatMap(([name, value]) =>
    value !== undefined && value.length >= 8 && isSecretName(name) ? [value] : [],
  );
