import { createInterface } from 'node:readline/promises'
import { PassThrough } from 'node:stream'
import type { CommandIo } from '../command-io.ts'
import { printable } from '../view/styled-line.ts'

/**
 * @param question what comes from a cluster in it may say anything, and steers no terminal
 * @returns whether somebody at the terminal says yes; anything else, the end of input too, is a no
 */
export async function confirmed(question: string, { in: input, err }: CommandIo): Promise<boolean> {
  if (input === undefined) return false
  const lines = createInterface({ input: toReadable(input), crlfDelay: Number.POSITIVE_INFINITY })
  err.write(`${printable(question)} [y/N] `)
  try {
    for await (const line of lines) return /^\s*y(es)?\s*$/i.test(line)
    return false
  } finally {
    // The loop alone leaves the terminal open, which would keep the program from ending.
    lines.close()
  }
}

function toReadable(input: NonNullable<CommandIo['in']>): NodeJS.ReadableStream {
  if ('pipe' in input) return input as unknown as NodeJS.ReadableStream
  const stream = new PassThrough()
  void (async () => {
    for await (const chunk of input) stream.write(chunk)
    stream.end()
  })()
  return stream
}
