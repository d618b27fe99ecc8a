import { PINNED_CONFIG_MAX } from '@tranche/api-schema'
import { PINNED_CONFIG_ANNOTATION } from '@tranche/config'
import { explainRollout, type ReleaseFacts, reportRollout } from '@tranche/reports'
import { describe, expect, it } from 'vitest'
import { aRevision, templateOf } from '../../../../test/fakes/build-view.ts'
import { aReading, type FactsFields } from './build-facts.ts'

const many = (count: number): string => Array.from({ length: count }, (_, at) => `ConfigMap/m${at}=m${at}-1`).join(',')

describe('the copies that pods of a DaemonSet read', () => {
  it.each<[string, string, readonly object[] | undefined, string | undefined]>([
    ['are absent without any', '', undefined, undefined],
    [
      'are those of its present template',
      'ConfigMap/agent=agent-9f86d081884c7d65,Secret/token=token-1a2b3c4d5e6f7081',
      [
        { kind: 'ConfigMap', name: 'agent', copy: 'agent-9f86d081884c7d65' },
        { kind: 'Secret', name: 'token', copy: 'token-1a2b3c4d5e6f7081' },
      ],
      'ConfigMap agent as agent-9f86d081884c7d65, Secret token as token-1a2b3c4d5e6f7081',
    ],
  ])('%s', (_name, pins, pinnedConfig, text) => {
    const facts = withPins(pins)
    expect(reportRollout(facts).pinnedConfig).toEqual(pinnedConfig)
    expect(explainRollout(facts).facts.find(({ name }) => name === 'pinned')?.value).toBe(text)
  })

  it('are named before the first release', () => {
    const facts = withPins('ConfigMap/agent=agent-1', { rolloutStatus: { phase: 'Initial' } })
    expect(reportRollout(facts).pinnedConfig).toEqual([{ kind: 'ConfigMap', name: 'agent', copy: 'agent-1' }])
  })

  it('are absent without the DaemonSet', () => {
    expect(reportRollout({ ...withPins('ConfigMap/agent=agent-1'), daemonSet: undefined, fleet: undefined }).pinnedConfig).toBeUndefined()
  })

  it('are bounded in reports and texts', () => {
    const facts = withPins(many(PINNED_CONFIG_MAX + 5))
    expect(reportRollout(facts).pinnedConfig).toHaveLength(PINNED_CONFIG_MAX)
    expect(explainRollout(facts).facts.find(({ name }) => name === 'pinned')?.value).toMatch(/ConfigMap m9 as m9-1 and 40 more$/)
  })
})

describe('after a rollback, the next event', () => {
  const pinned = (copy: string, image = 'old') => ({
    metadata: { annotations: { [PINNED_CONFIG_ANNOTATION]: `ConfigMap/agent=${copy}` } },
    ...templateOf(image),
  })
  const after = (rolledBack: object): string | undefined => {
    const rolled = { type: 'Succeeded', status: 'False', reason: '', message: '', lastUpdateTime: '', lastTransitionTime: '' } as const
    const { canaryStatus } = aReading().rollout.status ?? {}
    const back = { canaryRevision: 'old', stableRevision: 'old', podTemplateHash: 'old', currentStepState: 'Completed' as const }
    const facts = aReading({
      nodes: 'a:old b:old',
      daemonSet: { template: pinned('agent-1') as never },
      revisions: [aRevision('old', 3, pinned('agent-1')), aRevision('new', 2, rolledBack)],
      rolloutStatus: {
        phase: 'Healthy',
        stableRevision: 'old',
        rollbackFrom: 'new',
        conditions: [rolled],
        canaryStatus: { ...canaryStatus!, ...back },
      },
    })
    return explainRollout({ ...facts, release: undefined }).next
  }

  it('names both steps that release a change of config alone, as the condition does', () => {
    expect(after(pinned('agent-2'))).toBe(
      'change the config, or apply another template; or remove the annotation tranche.dev/pinned-config from the template, and run retry with revision new',
    )
  })

  it('names the template of any other revision', () => {
    expect(after(pinned('agent-2', 'new'))).toBe(
      'apply another template; or run retry with revision new (new), and apply its template again',
    )
  })
})

function withPins(pins: string, fields: FactsFields = {}): ReleaseFacts {
  const facts = aReading(fields)
  const { daemonSet } = facts
  if (daemonSet === undefined) throw new Error('there is no DaemonSet')
  const annotations = pins === '' ? {} : { 'tranche.dev/pinned-config': pins }
  const template = { ...daemonSet.spec.template, metadata: { annotations } }
  return { ...facts, daemonSet: { ...daemonSet, spec: { ...daemonSet.spec, template } } }
}
