import { createInterface } from 'node:readline/promises'
import { PassThrough } from 'node:stream'
import type { CommandIo } from '../process/command-io.ts'
import { printable } from '../view/printable.ts'

/**
 * @param question prompt; control characters are removed, since names come from the cluster
 * @returns true only for `y` or `yes`; false for any other answer and at the end of input
 */
export async function confirmed(question: string, { in: input, err }: CommandIo): Promise<boolean> {
  if (input === undefined) return false
  const lines = createInterface({ input: toReadable(input), crlfDelay: Number.POSITIVE_INFINITY })
  err.write(`${printable(question)} [y/N] `)
  try {
    for await (const line of lines) return /^\s*y(es)?\s*$/i.test(line)
    return false
  } finally {
    // Close the terminal, which would keep the process alive.
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
