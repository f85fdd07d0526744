import type { defaultProvider as CredentialChainOf } from '@aws-sdk/credential-provider-node';
import type { Clock } from '../../platform/clock.ts';
import { parseHttpDate } from '../hint-grammar.ts';
import type { HeaderValue, HttpHead } from '../http-client.ts';
import { Secret } from '../secret.ts';

export interface AwsKeys {
  readonly accessKeyId: string;
  readonly secretAccessKey: Secret;
  readonly sessionToken?: Secret;
}

export interface Signer {
  sign(url: URL, body: string): Promise<Readonly<Record<string, HeaderValue>>>;
  /** A server that refuses a signature says its time: the next one is made with it. */
  learnTime(head: HttpHead): void;
}

/** A Bedrock API key needs no signature. */
export const bearerSigner = (key: Secret): Signer => ({
  sign: () =>
    Promise.resolve({ 'content-type': 'application/json', authorization: { prefix: 'Bearer ', secret: key } }),
  learnTime: () => {},
});

/**
 * Signs with given keys, or with what AWS's own chain finds (profile, web identity, container, instance). AWS's code is
 * loaded with the first signature: it takes some 15 MB, and most runs never sign.
 */
export function awsSigner(
  region: string,
  keys: AwsKeys | undefined,
  profile: string | undefined,
  clock: Clock,
): Signer {
  let offsetMs = 0;
  // One chain for all calls: it remembers what it found until that runs out.
  let chain: Promise<ReturnType<typeof CredentialChainOf>> | undefined;
  const credentialsFor = (origin: string) => {
    if (keys !== undefined) return revealed(keys, origin);
    chain ??= import('@aws-sdk/credential-provider-node').then(({ defaultProvider }) =>
      defaultProvider(profile === undefined ? {} : { profile }),
    );
    return chain;
  };
  return {
    async sign(url, body) {
      const [{ SignatureV4 }, { Sha256 }, credentials] = await Promise.all([
        import('@smithy/signature-v4'),
        import('@aws-crypto/sha256-js'),
        credentialsFor(url.origin),
      ]);
      const signer = new SignatureV4({ service: 'bedrock', region, sha256: Sha256, credentials });
      const request = {
        method: 'POST',
        protocol: url.protocol,
        hostname: url.hostname,
        ...(url.port === '' ? {} : { port: Number(url.port) }),
        path: url.pathname,
        query: {},
        headers: { host: url.host, 'content-type': 'application/json' },
        body,
      };
      const signed = await signer.sign(request, { signingDate: new Date(clock.now() + offsetMs) });
      const { host: _, ...headers } = signed.headers;
      const token = headers['x-amz-security-token'];
      return token === undefined
        ? headers
        : { ...headers, 'x-amz-security-token': { prefix: '', secret: new Secret(token, url.origin) } };
    },
    learnTime({ status, headers }) {
      const theirs = parseHttpDate(String(headers['date'] ?? ''));
      if (theirs !== undefined && (status === 403 || status === 400)) offsetMs = theirs - clock.now();
    },
  };
}

function revealed(
  keys: AwsKeys,
  origin: string,
): { accessKeyId: string; secretAccessKey: string; sessionToken?: string } {
  const sessionToken = keys.sessionToken?.revealFor(origin);
  return {
    accessKeyId: keys.accessKeyId,
    secretAccessKey: keys.secretAccessKey.revealFor(origin) ?? '',
    ...(sessionToken === undefined ? {} : { sessionToken }),
  };
}
