import { connect as connectPlain } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { RedisHost } from './redis-settings.ts'

/**
 * Whether a port speaks the other of TLS and plain text than it was asked for, which looks like silence or a hang-up from
 * outside.
 *
 * @param deadlineMs how long to wait for a word
 */
export function speaksOtherwise({ host, port }: RedisHost, isTlsExpected: boolean, deadlineMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const end = (speaks: boolean): void => {
      socket.destroy()
      resolve(speaks)
    }
    // Judged is the language only; nothing is sent over a connection that nobody has verified.
    const socket = isTlsExpected
      ? connectPlain({ host, port, timeout: deadlineMs }, () => socket.write('PING\r\n'))
      : connectTls({ host, port, timeout: deadlineMs, rejectUnauthorized: false }, () => end(true))
    if (isTlsExpected) socket.on('data', (data) => end(/^[+-]/.test(data.toString('latin1'))))
    socket.on('timeout', () => end(false))
    socket.on('error', () => end(false))
    socket.on('close', () => end(false))
  })
}
