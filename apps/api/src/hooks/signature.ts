import { createHmac, timingSafeEqual } from 'node:crypto'

/** When a message was signed, and by what it proves it. */
export interface Signature {
  /** Epoch seconds, as they were signed. */
  readonly seconds: number
  readonly digest: Buffer
}

/** @returns what `x-tranche-signature` says; null where it is not `t=SECONDS,v1=HEX` */
export function parseSignature(header: unknown): Signature | null {
  if (typeof header !== 'string') return null
  const [, seconds, digest] = /^t=(0|[1-9]\d{0,11}),v1=([0-9a-f]{64})$/.exec(header) ?? []
  return seconds === undefined || digest === undefined ? null : { seconds: Number(seconds), digest: Buffer.from(digest, 'hex') }
}

/** Whether who signed `body`, its bytes as they came, has the key. Takes equally long whatever is wrong. */
export function isSignedWith(key: Uint8Array, body: Uint8Array, { seconds, digest }: Signature): boolean {
  return timingSafeEqual(createHmac('sha256', key).update(`${seconds}.`).update(body).digest(), digest)
}
