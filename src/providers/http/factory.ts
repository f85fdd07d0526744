import { ParlaneError } from '../../domain/errors.ts';
import { accountingProfiles } from '../accounting.ts';
import { laneOf } from '../lane-scope.ts';
import { sharedParts } from '../network-parts.ts';
import { createNetworkProvider } from '../network-provider.ts';
import type { ProviderFactory } from '../provider-factory.ts';
import { textAt } from '../read-json.ts';
import { surroundingsOf } from '../surroundings.ts';
import { httpTarget } from './wire.ts';

/** `http`, `https`, or the address itself as the id. */
export const httpFactory: ProviderFactory = {
  matches: (id) => id === 'http' || id === 'https' || /^https?:/.test(id),
  create(options, context) {
    const surroundings = surroundingsOf(options, context);
    const { config, render } = surroundings;
    const url = textAt(config, 'url') ?? options.id;
    const raw = textAt(config, 'request');
    const origin =
      raw === undefined ? fixedOrigin(url) : fixedOrigin(rawAddress(raw, url, config['useHttps'] === true));
    if (raw === undefined && !/^https?:\/\/./.test(url) && !url.includes('{{')) {
      throw new ParlaneError(
        'provider/wrong-base-url',
        `${options.id} has no address.`,
        'Set `url` in its config, such as https://example.com/chat.',
        { provider: options.id },
      );
    }
    if (raw === undefined && config['body'] === undefined && textAt(config, 'method')?.toUpperCase() !== 'GET') {
      throw new ParlaneError(
        'provider/missing-body',
        `${options.id} has no body to send.`,
        'Set `body` in its config, or `method: GET`.',
        { provider: options.id },
      );
    }
    return createNetworkProvider({
      ...sharedParts(options, context, surroundings),
      model: options.label ?? url,
      vendor: 'http',
      lane: laneOf({
        vendor: 'http',
        model: origin ?? url,
        baseUrl: url,
        ...(surroundings.limits === undefined ? {} : { limits: surroundings.limits }),
      }),
      accounting: accountingProfiles.plain,
      ceiling: 512,
      price: surroundings.priceOf('http', url),
      format: httpTarget({ url, config, render, origin, code: surroundings.code, basePath: surroundings.basePath }),
    });
  },
};

/** The origin, when no template can change it. */
function fixedOrigin(url: string): string | undefined {
  const origin = /^https?:\/\/[^/?#]+/.exec(url)?.[0];
  return origin === undefined || /[{}]/.test(origin) ? undefined : new URL(origin).origin;
}

function rawAddress(raw: string, url: string, useHttps: boolean): string {
  const host = /^host:\s*(\S+)\s*$/im.exec(raw)?.[1] ?? '';
  return `${url.startsWith('https') || useHttps ? 'https' : 'http'}://${host}`;
}
