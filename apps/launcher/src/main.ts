import { launch } from './command-line/launch.ts'

for (const stream of [process.stdout, process.stderr]) stream.on('error', onStreamError)

process.exitCode = await launch(process.argv.slice(2), { in: process.stdin, out: process.stdout, err: process.stderr, env: process.env })

/** Ignores a closed pipe (`| head -1`); exits with 1 on any other write error. */
function onStreamError(error: NodeJS.ErrnoException): void {
  if (error.code === 'EPIPE') return
  process.stderr.write(`FILE_UNWRITABLE: the output cannot be written: ${error.message}\n`)
  process.exit(1)
}
