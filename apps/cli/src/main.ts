import { run } from './run.ts'

process.exitCode = await run(process.argv.slice(2), { out: process.stdout, err: process.stderr, env: process.env })
