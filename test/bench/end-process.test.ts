import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, it } from 'vitest'
import { endProcess } from '../../scripts/bench/end-process.ts'

it.each<[string, (child: ChildProcess) => unknown]>([
  ['runs', () => undefined],
  ['a signal has ended', (child) => child.kill('SIGKILL') && once(child, 'exit')],
  ['exited by itself', (child) => child.stdin!.end() && once(child, 'exit')],
])('endProcess ends a process that %s', async (_what, prepare) => {
  const child = spawn('cat', { stdio: ['pipe', 'ignore', 'ignore'] })
  await prepare(child)
  await endProcess(child, 'cat')
  expect(child.exitCode ?? child.signalCode).not.toBeNull()
})
