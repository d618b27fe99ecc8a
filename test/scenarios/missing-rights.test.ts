import { customResourceDefinitions } from '@tranche/api-schema'
import { resourcePaths } from '@tranche/kube-client'
import type { LogFields, Logger } from '@tranche/telemetry'
import { ApiStatusError, type FaultInjector } from '@tranche/sim-api'
import { afterEach, describe, expect, it } from 'vitest'
import { chartRules, type Rules } from '../../scripts/chart-rules.ts'
import { expectKept } from './expect-kept.ts'
import { untilPausedAt, untilReleased } from './looks.ts'
import { drive, setStage, type Stage } from './stage.ts'
import { rolloutManifest } from './stage-objects.ts'

let stage: Stage
afterEach(() => stage.end())

type Program = 'controller' | 'executor'
type Rule = Rules[number]

const page = chartRules()
const cases = (['controller', 'executor'] as const).flatMap((program) =>
  [page.ClusterRole, page.Role]
    .flatMap((roles) => roles[`tranche-${program}`] ?? [])
    .map((rule): [string, Program, Rule] => [`the ${program} may not ${textOf(rule)}`, program, rule]),
)

/** Rights that this story does not use. */
const elsewhere: readonly string[] = [
  // An API server requires it if OwnerReferencesPermissionEnforcement is on.
  'the controller may not update rollouts/finalizers of rollouts.kruise.io',
  // There is no policy.
  'the controller may not patch releasepolicies/status of tranche.dev',
]

describe('if', () => {
  it.each(cases)(
    '%s, it keeps running, reports that in log and metrics, and recovers once it has the right',
    async (name, program, rule) => {
      const lines: string[] = []
      const { faults, refused, grant } = withoutRight(program, rule)
      stage = await setStage({
        nodes: 3,
        withRollout: false,
        counts: true,
        controllers: ['controller-1', 'controller-2'],
        log: noting(lines),
        faults,
      })
      await stage.client.create(resourcePaths.rollouts, rolloutManifest({}) as never)
      await stage.pass(20_000)
      await stage.setImage('v2')
      await stage.pass(60_000)
      expect(refused() > 0, `${refused()} refusals`).toBe(!elsewhere.includes(name))
      if (refused() > 0) {
        expect(lines.filter((line) => line.includes('may not'))).not.toEqual([])
        expect(await stage.scrape(`${program}-1`)).toMatch(/^tranche_kube_requests_total\{.*code="403".*\} [1-9]/m)
      }
      grant()
      // Reflectors retry after 30 s at most. A DaemonSet that was not bound in time may have been updated natively.
      await stage.pass(60_000)
      await stage.setImage('v3')
      await stage.pass(60_000)
      await untilPausedAt(stage, 1)
      await stage.approve()
      await untilReleased(stage, 'v3')
      expectKept(stage)
    },
  )
})

describe('without CustomResourceDefinitions', () => {
  it('both programs keep running, say what to apply, and start once the definitions exist', async () => {
    const lines: string[] = []
    stage = await setStage({ nodes: 3, withRollout: false, controllers: [], executors: [], log: noting(lines), startsWhileRunning: true })
    for (const { metadata } of customResourceDefinitions)
      await drive(stage.clock, stage.client.delete(resourcePaths.customResourceDefinitions, { namespace: '', name: metadata.name }))
    await stage.startController('controller-1')
    await stage.startExecutor('executor-1')
    await stage.pass(60_000)
    const ofRollouts = lines.filter((line) => line.startsWith('error') && line.includes('"resource":"rollouts"'))
    expect(ofRollouts[0]).toContain('Apply the CustomResourceDefinitions of this version')
    expect(lines.filter((line) => line.includes('"resource":"batchreleases"'))).not.toEqual([])
    for (const definition of customResourceDefinitions)
      await drive(stage.clock, stage.client.create(resourcePaths.customResourceDefinitions, definition as never))
    await stage.client.create(resourcePaths.rollouts, rolloutManifest({}) as never)
    await stage.until('the Rollout is Healthy', async () => (await stage.rollout()).status?.phase === 'Healthy')
    await stage.setImage('v2')
    await untilPausedAt(stage, 1)
  })
})

function textOf({ apiGroups = [], resources = [], verbs = [] }: Rule): string {
  const group = apiGroups[0] === '' ? '' : ` of ${apiGroups.join(' or ')}`
  return `${verbs.join(', ')} ${resources.join(' and ')}${group}`
}

/** Rejects the requests that `rule` would allow to a program, like an API server without that rule. */
function withoutRight(program: Program, { apiGroups = [], resources = [], verbs = [] }: Rule) {
  let refusals = 0
  let isMissing = true
  const faults: FaultInjector = {
    onRequest({ actor, verb, resource, subresource }) {
      const plural = subresource === undefined ? resource.resource : `${resource.resource}/${subresource}`
      const isMeant = apiGroups.includes(resource.group) && resources.includes(plural) && verbs.includes(verb)
      if (!isMissing || !isMeant || !actor.startsWith(`${program}-`)) return undefined
      refusals++
      return { kind: 'error', error: new ApiStatusError(403, 'Forbidden', `${actor} may not ${verb} ${plural}`) }
    },
  }
  return { faults, refused: () => refusals, grant: () => void (isMissing = false) }
}

/** Keeps warnings and errors as `level message {fields}`. */
function noting(lines: string[], bound: LogFields = {}): Logger {
  const at = (level: string) => (fields: LogFields, message: string) => {
    const err = fields['err'] instanceof Error ? { err: fields['err'].message } : {}
    lines.push(`${level} ${message} ${JSON.stringify({ ...bound, ...fields, ...err })}`)
  }
  const none = (): void => undefined
  return { debug: none, info: none, warn: at('warn'), error: at('error'), child: (fields) => noting(lines, { ...bound, ...fields }) }
}
