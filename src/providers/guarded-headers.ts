import type { HeaderValue } from './http-client.ts';
import { Secret } from './secret.ts';

const holdsSecret = /^(?:authorization|proxy-authorization|cookie|.*(?:api-?key|token|secret|password).*)$/i;

/** Headers that hold a key by their name travel as secrets, bound to the origin. */
export const guarded = (headers: Readonly<Record<string, string>>, origin: string): Record<string, HeaderValue> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]): [string, HeaderValue] => {
      if (!holdsSecret.test(name)) return [name, value];
      const [, prefix = '', key = value] = /^((?:Bearer|Basic|Token) )(.*)$/.exec(value) ?? [];
      return [name, { prefix, secret: new Secret(key, origin) }];
    }),
  );
