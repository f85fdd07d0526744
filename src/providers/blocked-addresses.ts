import { type LookupAddress, type LookupOptions, lookup as resolveName } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';

/**
 * Addresses that hand out machine credentials, or that are only meant for the machine's own link. No provider, tool or
 * webhook lives there, so a request to one is an attack or a mistake. Loopback and private networks stay allowed:
 * local model servers live there.
 */
const blocked = new BlockList();
blocked.addSubnet('169.254.0.0', 16, 'ipv4');
blocked.addAddress('100.100.100.200', 'ipv4');
blocked.addAddress('168.63.129.16', 'ipv4');
blocked.addAddress('192.0.0.192', 'ipv4');
blocked.addSubnet('fe80::', 10, 'ipv6');
blocked.addAddress('fd00:ec2::254', 'ipv6');
blocked.addAddress('fd20:ce::254', 'ipv6');
// The same IPv4 range, wrapped: NAT64 and 6to4.
blocked.addSubnet('64:ff9b::a9fe:0', 112, 'ipv6');
blocked.addSubnet('2002:a9fe::', 32, 'ipv6');

const blockedNames = new Set(['metadata.google.internal', 'metadata.goog', 'instance-data.ec2.internal']);

/** The code of the error that a blocked address makes while connecting. */
export const blockedAddressCode = 'PARLANE_BLOCKED_ADDRESS';

/** Whether a URL's host is one of the blocked addresses or names, as far as can be told without resolving it. */
export function isBlockedHost(hostname: string): boolean {
  const host = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
  const version = isIP(host);
  if (version === 0) return blockedNames.has(host.toLowerCase().replace(/\.$/, ''));
  return blocked.check(host, version === 6 ? 'ipv6' : 'ipv4');
}

/** How names become addresses: the system's own way, unless a test stands in for it. */
export type ResolveName = (
  hostname: string,
  options: LookupOptions & { readonly all: true },
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

/** DNS as sockets ask it, refusing the blocked addresses after resolution, so that a name cannot smuggle one in. */
export const guardedLookup =
  (resolve: ResolveName = resolveName): LookupFunction =>
  (hostname, options, callback) => {
    resolve(hostname, { ...options, all: true }, (error, addresses) => {
      if (error !== null) return callback(error, []);
      const bad = addresses.find(({ address }) => isBlockedHost(address));
      if (bad !== undefined) {
        const refusal: NodeJS.ErrnoException = new Error(`${hostname} resolves to ${bad.address}`);
        refusal.code = blockedAddressCode;
        return callback(refusal, []);
      }
      if (options.all === true) return callback(null, addresses);
      const first = addresses[0];
      callback(null, first?.address ?? '', first?.family ?? 4);
    });
  };
