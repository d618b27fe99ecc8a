import { FakeClock } from '@tranche/clock'
import type { KubeClient } from '@tranche/kube-client'
import type { Logger } from '@tranche/telemetry'
import { expect, it } from 'vitest'
import { createHookHandler } from '../src/hooks/hook-handler.ts'

it('the log shows attempts on a hook even after many messages to other names', async () => {
  const clock = new FakeClock()
  const said: string[] = []
  const log = { warn: ({ hook }: { readonly hook: string }) => void said.push(hook) } as unknown as Logger
  const secret = {
    metadata: {
      name: 'real',
      namespace: 'demo',
      labels: { 'tranche.dev/hook': 'true' },
      annotations: { 'tranche.dev/hook-rollout': 'agent' },
    },
    data: { key: Buffer.alloc(32).toString('base64') },
  }
  const unlabelled = { metadata: { name: 'x', namespace: 'demo' } }
  const get = (_: unknown, { name }: { readonly name: string }) => Promise.resolve(name === 'real' ? secret : unlabelled)
  const handler = createHookHandler({ client: { get } as unknown as KubeClient, clock: clock as never, log })
  const send = (hook: string): Promise<unknown> => {
    const signature = `t=${Math.floor(clock.nowMs() / 1000)},v1=${'0'.repeat(64)}`
    const sender = { address: '192.0.2.1', connection: {}, signal: new AbortController().signal }
    return handler
      .admit({ namespace: 'demo', hook, signature, body: Buffer.from('{}'), sender } as never)
      .catch(({ code }: { code: string }) => code)
  }
  for (let at = 0; at < 100; at += 1) await send(`name-${at}`)
  expect(await send('real')).toBe('HOOK_REFUSED')
  expect(said.length).toBe(61)
  expect(said.at(-1)).toBe('real')
})
