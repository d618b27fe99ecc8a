import { connect as connectPlain } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { RedisHost } from './redis-settings.ts'

/**
 * Detects whether a port uses TLS when plain text is expected, or plain text when TLS is expected. From outside, both look like silence or
 * a closed connection.
 *
 * @param deadlineMs how long to wait for data, in milliseconds
 */
export function speaksOtherwise({ host, port }: RedisHost, isTlsExpected: boolean, deadlineMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const end = (speaks: boolean): void => {
      socket.destroy()
      resolve(speaks)
    }
    // Only the protocol is checked; nothing is sent over an unverified connection.
    const socket = isTlsExpected
      ? connectPlain({ host, port, timeout: deadlineMs }, () => socket.write('PING\r\n'))
      : connectTls({ host, port, timeout: deadlineMs, rejectUnauthorized: false }, () => end(true))
    if (isTlsExpected) socket.on('data', (data) => end(/^[+-]/.test(data.toString('latin1'))))
    socket.on('timeout', () => end(false))
    socket.on('error', () => end(false))
    socket.on('close', () => end(false))
  })
}
