import type { LogFields, Logger } from '@tranche/telemetry'
import { ApiStatusError } from '@tranche/sim-api'
import { afterEach, expect, it } from 'vitest'
import { untilNodesOn, untilPausedAt } from './looks.ts'
import { setStage, type Stage } from './stage.ts'

let stage: Stage
afterEach(() => stage.end())

it('processes with rejected credentials report it once a minute with a hint, and continue when the credentials are accepted again', async () => {
  const lines: (LogFields & { readonly level: string; readonly msg: string })[] = []
  const write = (level: string) => (fields: LogFields, msg: string) => void lines.push({ ...fields, level, msg })
  const log: Logger = { debug: () => {}, info: write('info'), warn: write('warn'), error: write('error'), child: () => log }
  let isRefused = false
  const refusal = { kind: 'error', error: new ApiStatusError(401, 'Unauthorized', 'Unauthorized') } as const
  stage = await setStage({
    nodes: 5,
    maxUnavailable: 2,
    log,
    faults: { onRequest: ({ actor }) => (isRefused && /^(controller|executor)/.test(actor) ? refusal : undefined) },
  })
  await stage.setImage('v2')
  await untilPausedAt(stage, 1)
  lines.length = 0
  isRefused = true
  await stage.approve()
  await stage.pass(600_000)
  const clients = 3
  expect(new Set(lines.map(({ level, msg }) => `${level}: ${msg}`))).toEqual(new Set(['error: API server does not accept the credentials']))
  expect(lines.length).toBeLessThanOrEqual(10 * clients)
  expect(lines[0]?.['hint']).toContain('credentials.md')
  isRefused = false
  await untilNodesOn(stage, 'v2', 5)
  expect(lines.map(({ msg }) => msg)).toContain('API server accepts the credentials again')
})
