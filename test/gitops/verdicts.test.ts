import { mkdirSync, writeFileSync } from 'node:fs'
import {
  type FinalisingStep,
  progressingReasons,
  type Rollout,
  type RolloutPhase,
  rolloutPhases,
  stalledReasons,
  type StepState,
  stepStates,
} from '@tranche/api-schema'
import { beforeAll, describe, expect, it } from 'vitest'
import fc from 'fast-check'
import { argoVerdict, discoveredActions, possibleActions } from './argo-cd.ts'
import { verdictsPage } from './page.ts'
import { situations } from './situations.ts'
import { type Verdicts, verdictsOf } from './verdicts.ts'
import { refusalOfAction } from './refusal-of-action.ts'

let all: readonly Verdicts[]

beforeAll(async () => {
  all = await Promise.all((await situations()).map(verdictsOf))
  // For `pnpm test:gitops`, which compares the tools themselves.
  mkdirSync('node_modules/.cache/gitops', { recursive: true })
  writeFileSync('node_modules/.cache/gitops/situations.json', JSON.stringify(all))
})

describe('the situations include every', () => {
  it.each([
    ['phase', rolloutPhases],
    ['reason of Progressing except the final one', progressingReasons.filter((reason) => reason !== 'Completed')],
    ['step state in use', stepStates.filter((state) => state !== 'StepTrafficRouting')],
    ['reason of Stalled that is reported', stalledReasons.filter((reason) => reason !== 'NodesLeft')],
  ] as const)('%s', (_kind, words) => {
    expect(words.filter((word) => !all.some(({ standing }) => new RegExp(`\\b${word}\\b`).test(standing)))).toEqual([])
  })
})

it('docs/guides/verdicts.md has the result of each tool', async () => {
  await expect(verdictsPage(all)).toMatchFileSnapshot('../../docs/guides/verdicts.md')
})

describe('our script for Argo CD', () => {
  it('shows the message of the status, if that is of this generation', () => {
    for (const { argo, rollout } of all)
      expect([rollout.status?.message, 'waiting for the controller to observe this generation']).toContain(argo.message)
  })

  it('differs from the one of Argo CD only if that misses Stalled, a pause, a rollback, or a disabled Rollout', () => {
    const differing = all.filter(({ argo, argoOwn }) => argo.status !== argoOwn).map(({ standing }) => standing)
    expect(
      differing.filter((standing) => !/Stalled by|, paused$|, rolled back$|^Disabled, Completed$|^no status yet$/.test(standing)),
    ).toEqual([])
  })

  it('is Degraded where a Rollout is Failed in Flux, except in a first sync, before a decision, and during a rollback', () => {
    const differing = all.filter(({ argo, flux }) => (argo.status === 'Degraded') !== (flux === 'Failed')).map(({ standing }) => standing)
    expect(differing.filter((standing) => !/AnalysisInconclusive|^Initial, .*WorkloadNotFound|, rolled back$/.test(standing))).toEqual([])
  })

  it('does not show a rollback by Git as a failure, though the version was blocked before', async () => {
    const taken = all.find(({ standing }) => standing.endsWith(', rolled back'))!.rollout
    const began = taken.status?.conditions?.find(({ type }) => type === 'Progressing')?.lastTransitionTime
    const heldBefore = taken.status?.heldRevisions?.map((held) => ({ ...held, at: began ?? '' }))
    expect((await argoVerdict(taken)).status).toBe('Degraded')
    expect((await argoVerdict({ ...taken, status: { ...taken.status, heldRevisions: heldBefore } } as typeof taken)).status).toBe(
      'Progressing',
    )
  })

  it('shows Rollouts of other workloads, which have fewer conditions, as Argo CD does', async () => {
    const others = all.filter(({ standing, argoOwn }) => !standing.includes('Disabled') && argoOwn !== 'error')
    for (const { rollout, argoOwn, standing } of others) {
      const { conditions: _ours, ...status } = rollout.status ?? {}
      expect((await argoVerdict({ ...rollout, status } as typeof rollout)).status, standing).toBe(argoOwn)
    }
  })

  it('and its menu never end with an error, even if parts of the status are missing', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(), fc.array(fc.nat(), { maxLength: 6 }), async (at, cuts) => {
        const rollout = structuredClone(all[at % all.length]!.rollout)
        for (const cut of cuts) cutOut(rollout.status, cut)
        const { status } = await argoVerdict(rollout)
        expect(['Healthy', 'Progressing', 'Suspended', 'Degraded']).toContain(status)
        await discoveredActions(rollout)
      }),
      { numRuns: 100 },
    )
  })

  it('offers an action exactly where the controller would accept it', () => {
    for (const { rollout, standing, actions } of all) expect(actions.toSorted(), standing).toEqual(acceptedTypes(rollout))
  })

  it('does so too for combinations in a status that no story has', async () => {
    const parts = fc.record({
      at: fc.nat(),
      phase: fc.constantFrom('Progressing' as const, ...rolloutPhases),
      currentStepState: fc.constantFrom('StepPaused' as const, ...stepStates),
      finalisingStep: fc.constantFrom('' as const, 'ResumeWorkload' as const),
      paused: fc.boolean(),
      reason: fc.constantFrom(...stalledReasons),
      isStalled: fc.boolean(),
      failure: fc.constantFrom(undefined, { stops: true }, { stops: false }),
      canaryRevision: fc.constantFrom('canary', 'stable', 'blocked'),
    })
    await fc.assert(
      fc.asyncProperty(parts, async ({ at, ...mixed }) => {
        const rollout = mix(all[at % all.length]!.rollout, mixed)
        expect((await possibleActions(rollout)).toSorted()).toEqual(acceptedTypes(rollout))
      }),
      { numRuns: 150 },
    )
  })
})

function acceptedTypes(rollout: Rollout): readonly string[] {
  return Object.keys(refusalOfAction)
    .filter((name) => refusalOfAction[name]!(rollout) === null)
    .toSorted()
}

interface Mixed {
  readonly phase: RolloutPhase
  readonly currentStepState: StepState
  readonly finalisingStep: FinalisingStep
  readonly paused: boolean
  readonly reason: string
  readonly isStalled: boolean
  readonly failure: { readonly stops: boolean } | undefined
  /** `stable`: a rollback; `blocked`: the version of the release is blocked. */
  readonly canaryRevision: 'canary' | 'stable' | 'blocked'
}

/** The Rollout with a status of these parts. */
function mix({ status, spec, ...rest }: Rollout, mixed: Mixed): Rollout {
  const { phase, currentStepState, finalisingStep, paused, reason, isStalled, failure, canaryRevision } = mixed
  const canaryStatus = { ...status?.canaryStatus, currentStepIndex: 1, currentStepState, finalisingStep, stableRevision: 'stable' }
  const stalled = { type: 'Stalled', status: isStalled ? 'True' : 'False', reason: isStalled ? reason : 'NotStalled', message: '' }
  return {
    ...rest,
    spec: { ...spec, strategy: { ...spec.strategy, paused } },
    status: {
      ...status,
      phase,
      failure: failure && { reason: 'Failed', nodes: [], message: '', ...failure },
      conditions: [...(status?.conditions ?? []).filter(({ type }) => type !== 'Stalled'), stalled],
      canaryStatus: { ...canaryStatus, canaryRevision },
      heldRevisions: [
        ...(status?.heldRevisions ?? []),
        { digest: 'abc', revision: 'blocked', reason: 'Aborted', at: '2026-01-01T00:00:00Z' },
      ],
    },
  } as Rollout
}

/** Removes a member, somewhere in the rest. */
function cutOut(value: unknown, at: number): void {
  if (typeof value !== 'object' || value === null) return
  const keys = Object.keys(value)
  const key = keys[at % keys.length]
  if (key === undefined) return
  const inner = (value as Record<string, unknown>)[key]
  if (at % 3 !== 0 && typeof inner === 'object') return cutOut(inner, Math.floor(at / 3))
  if (Array.isArray(value)) value.splice(Number(key), 1)
  else delete (value as Record<string, unknown>)[key]
}
