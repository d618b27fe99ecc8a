import { createHmac } from 'node:crypto'

/** Header of a webhook whose body is signed. */
export const SIGNATURE_HEADER = 'x-tranche-signature'

/**
 * Signs a body: `t=<seconds>,v1=<hex>`, where v1 is the HMAC-SHA-256 of `<seconds>.<body>`. The time is signed too, so that
 * nobody can send an old message as a new one.
 *
 * @param seconds epoch seconds
 */
export function signatureOf(body: string, key: string, seconds: number): string {
  return `t=${seconds},v1=${createHmac('sha256', key).update(`${seconds}.${body}`).digest('hex')}`
}
