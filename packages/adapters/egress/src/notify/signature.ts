import { createHmac } from 'node:crypto'

/** Header with the signature of a webhook's body. */
export const SIGNATURE_HEADER = 'x-tranche-signature'

/**
 * Signs a body: `t=<seconds>,v1=<hex>`, where v1 is the HMAC-SHA-256 of `<seconds>.<body>`. The signed time prevents an old message from
 * being replayed as a new one.
 *
 * @param seconds epoch seconds
 */
export function signatureOf(body: string, key: string, seconds: number): string {
  return `t=${seconds},v1=${createHmac('sha256', key).update(`${seconds}.${body}`).digest('hex')}`
}
