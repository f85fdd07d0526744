import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';

/** One DER element. */
function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  if (body.length < 0x80) return Buffer.concat([Buffer.from([tag, body.length]), body]);
  const length = Buffer.from(body.length.toString(16).padStart(body.length > 0xff ? 4 : 2, '0'), 'hex');
  return Buffer.concat([Buffer.from([tag, 0x80 | length.length]), length, body]);
}

const sequence = (...parts: readonly Buffer[]): Buffer => der(0x30, ...parts);
const objectId = (hex: string): Buffer => der(0x06, Buffer.from(hex, 'hex'));
const utcTime = (text: string): Buffer => der(0x17, Buffer.from(text));

const ecdsaWithSha256 = sequence(objectId('2a8648ce3d040302'));
const commonName = sequence(der(0x31, sequence(objectId('550403'), der(0x0c, Buffer.from('fault-server')))));

function certify(publicKey: KeyObject, privateKey: KeyObject): Buffer {
  const spki = publicKey.export({ type: 'spki', format: 'der' });
  const serial = der(0x02, Buffer.from([1, ...createHash('sha256').update(spki).digest().subarray(0, 7)]));
  const content = sequence(
    serial,
    ecdsaWithSha256,
    commonName,
    sequence(utcTime('200101000000Z'), utcTime('491231235959Z')),
    commonName,
    spki,
  );
  const signature = sign('sha256', content, privateKey);
  return sequence(content, ecdsaWithSha256, der(0x03, Buffer.from([0]), signature));
}

/** A fresh certificate that nobody trusts, made on the spot so that no private key lies in a repository. */
export function selfSignedCertificate(): { readonly key: string; readonly cert: string } {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const lines =
    certify(publicKey, privateKey)
      .toString('base64')
      .match(/.{1,64}/g) ?? [];
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n'),
  };
}
