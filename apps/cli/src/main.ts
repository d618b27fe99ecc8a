import { run } from './run.ts'

// A reader that goes away (`| head -1`) ends its stream, not the program.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})

process.exitCode = await run(process.argv.slice(2), { out: process.stdout, err: process.stderr, env: process.env })
