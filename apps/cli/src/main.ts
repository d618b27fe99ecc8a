import { run } from './run.ts'

for (const stream of [process.stdout, process.stderr]) stream.on('error', onStreamError)

process.exitCode = await run(process.argv.slice(2), { in: process.stdin, out: process.stdout, err: process.stderr, env: process.env })

/** A reader that goes away (`| head -1`) ends its stream, not the program; output that cannot be written is a failure. */
function onStreamError(error: NodeJS.ErrnoException): void {
  if (error.code === 'EPIPE') return
  process.stderr.write(`FILE_UNWRITABLE: the output cannot be written: ${error.message}\n`)
  process.exit(1)
}
