/**
 * A self-signed certificate made on the spot, so that no private key is kept in the repository.
 *
 * @module
 */

import { generateKeyPairSync, sign } from "node:crypto";

function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  const { length } = body;
  const size = length < 128 ? [length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), body]);
}

const sequence = (...parts: readonly Buffer[]): Buffer => der(0x30, ...parts);
const oid = (hex: string): Buffer => der(0x06, Buffer.from(hex, "hex"));
const time = (text: string): Buffer => der(0x17, Buffer.from(text));

/** For the host "localhost", valid from 2020 to 2049. */
export function selfSigned(): { readonly key: string; readonly cert: string } {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const algorithm = sequence(oid("2a8648ce3d040302")); // ecdsa-with-SHA256
  const commonName = sequence(oid("550403"), der(0x0c, Buffer.from("localhost")));
  const name = sequence(der(0x31, commonName));
  const body = sequence(
    der(0x02, Buffer.from([1])),
    algorithm,
    name,
    sequence(time("200101000000Z"), time("491231235959Z")),
    name,
    publicKey.export({ type: "spki", format: "der" }),
  );
  const signature = der(0x03, Buffer.from([0]), sign("sha256", body, privateKey));
  const cert = sequence(body, algorithm, signature).toString("base64");
  return {
    key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${cert.replace(/(.{64})/g, "$1\n")}\n-----END CERTIFICATE-----\n`,
  };
}
