import { createHmac, timingSafeEqual } from 'node:crypto'

/** Parsed signature of a message: time and HMAC-SHA256. */
export interface Signature {
  /** Signed time, in epoch seconds. */
  readonly seconds: number
  readonly digest: Buffer
}

/** @returns the parsed `x-tranche-signature`; null if it is not `t=SECONDS,v1=HEX` */
export function parseSignature(header: unknown): Signature | null {
  if (typeof header !== 'string') return null
  const [, seconds, digest] = /^t=(0|[1-9]\d{0,11}),v1=([0-9a-f]{64})$/.exec(header) ?? []
  return seconds === undefined || digest === undefined ? null : { seconds: Number(seconds), digest: Buffer.from(digest, 'hex') }
}

/** Whether `body`, the received bytes, was signed with the key. Takes constant time. */
export function isSignedWith(key: Uint8Array, body: Uint8Array, { seconds, digest }: Signature): boolean {
  return timingSafeEqual(createHmac('sha256', key).update(`${seconds}.`).update(body).digest(), digest)
}
