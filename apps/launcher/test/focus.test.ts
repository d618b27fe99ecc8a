import type { Rollout } from '@tranche/api-schema'
import type { DaemonSet } from '@tranche/kube-types'
import { describe, expect, it } from 'vitest'
import { chooseFocus } from '../src/dev/focus.ts'
import { createReleaseTimer } from '../src/dev/release-timer.ts'

const preferred = { namespace: 'demo', name: 'node-agent' }

describe('chooseFocus', () => {
  const cases: Record<string, { daemonSets: string; rollouts: string; want: string | undefined }> = {
    'shows nothing for an empty cluster': { daemonSets: '', rollouts: '', want: undefined },
    'shows the one in mid-release': { daemonSets: 'demo/node-agent demo/other', rollouts: 'demo/node-agent demo/other*', want: 'other' },
    'shows the preferred one otherwise': { daemonSets: 'demo/a demo/node-agent', rollouts: 'demo/a', want: 'node-agent' },
    'shows one with a Rollout before one without': { daemonSets: 'demo/a demo/b', rollouts: 'demo/b', want: 'b' },
    'shows the first by name otherwise': { daemonSets: 'demo/b demo/a', rollouts: '', want: 'a' },
    'ignores a Rollout of another namespace': { daemonSets: 'demo/a demo/b', rollouts: 'other/b*', want: 'a' },
  }

  it.each(Object.entries(cases))('%s', (_name, { daemonSets, rollouts, want }) => {
    const focus = chooseFocus(
      words(daemonSets).map((key) => daemonSet(key)),
      words(rollouts).map(rollout),
      preferred,
    )
    expect(focus?.metadata.name).toBe(want)
  })
})

describe('createReleaseTimer', () => {
  it('begins when the template changes, and ends when nothing remains to do', () => {
    const timer = createReleaseTimer()
    expect(timer.times(daemonSet('demo/a'), rollout('demo/a'), 100)).toEqual({ startedAtMs: null, endedAtMs: null })
    expect(timer.times(daemonSet('demo/a', 'v2', 0), rollout('demo/a'), 200)).toEqual({ startedAtMs: 200, endedAtMs: null })
    expect(timer.times(daemonSet('demo/a', 'v2', 1), rollout('demo/a*'), 300)).toEqual({ startedAtMs: 200, endedAtMs: null })
    expect(timer.times(daemonSet('demo/a', 'v2', 3), rollout('demo/a*'), 400)).toEqual({ startedAtMs: 200, endedAtMs: null })
    expect(timer.times(daemonSet('demo/a', 'v2', 3), rollout('demo/a'), 500)).toEqual({ startedAtMs: 200, endedAtMs: 500 })
    expect(timer.times(daemonSet('demo/a', 'v2', 3), rollout('demo/a'), 600)).toEqual({ startedAtMs: 200, endedAtMs: 500 })
  })

  it('restarts with the next template', () => {
    const timer = createReleaseTimer()
    timer.times(daemonSet('demo/a'), rollout('demo/a'), 100)
    timer.times(daemonSet('demo/a', 'v2', 0), rollout('demo/a*'), 200)
    timer.times(daemonSet('demo/a', 'v2'), rollout('demo/a'), 300)
    expect(timer.times(daemonSet('demo/a', 'v3', 0), rollout('demo/a*'), 400)).toEqual({ startedAtMs: 400, endedAtMs: null })
  })

  it('counts a release in progress from when it is first seen', () => {
    expect(createReleaseTimer().times(daemonSet('demo/a', 'v2', 1), rollout('demo/a*'), 100)).toEqual({ startedAtMs: 100, endedAtMs: null })
  })
})

function words(text: string): string[] {
  return text.split(' ').filter((word) => word !== '')
}

/** `namespace/name`; three nodes, `updated` of them on the template. */
function daemonSet(key: string, version = 'v1', updated = 3): DaemonSet {
  const [namespace = '', name = ''] = key.split('/')
  return {
    metadata: { namespace, name, uid: key, resourceVersion: '1', generation: 1 },
    spec: { template: { spec: { containers: [{ name: 'agent', image: `agent:${version}` }] } } },
    status: { observedGeneration: 1, desiredNumberScheduled: 3, updatedNumberScheduled: updated, numberAvailable: 3 },
  }
}

/** `namespace/name` for the DaemonSet of that name; `*` is in mid-release. */
function rollout(word: string): Rollout {
  const [namespace = '', name = ''] = word.replace('*', '').split('/')
  return {
    metadata: { namespace, name, uid: word, resourceVersion: '1' },
    spec: { workloadRef: { apiVersion: 'apps/v1', kind: 'DaemonSet', name }, strategy: {} },
    status: { phase: word.endsWith('*') ? 'Progressing' : 'Healthy', currentStepIndex: 1, currentStepState: 'StepUpgrade' },
  }
}
