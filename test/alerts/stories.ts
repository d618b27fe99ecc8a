import { ApiStatusError, type FaultInjector } from '@tranche/sim-api'
import { define } from '../scenarios/definitions.ts'
import { drive, setStage, type Stage, type StageOptions } from '../scenarios/stage.ts'
import { apiStories, healthyApi } from './api-stories.ts'
import { webhookStories } from './webhook-stories.ts'
import { type Look, watch } from './watching.ts'

/** A story that fires an alert. */
export interface AlertStory {
  readonly alert: string
  /** The fault, as a sentence. */
  readonly title: string
  play(): Promise<readonly Look[]>
}

const both = ['controller-1', 'executor-1'] as const
const wholeFleet = [{ replicas: '100%' }]

/** At least one story for each alert. `null` stands for a healthy release, in which no alert fires. */
export const stories: readonly (AlertStory | (Omit<AlertStory, 'alert'> & { readonly alert: null }))[] = [
  {
    alert: null,
    title: 'a release that is approved after ten minutes goes well',
    play: () =>
      on({ nodes: 10 }, async (stage) => {
        await stage.setImage('v2')
        const before = await watch(stage, both, { minutes: 10 })
        await stage.approve()
        const after = await watch(stage, both, { minutes: 20 })
        const looks = [...before, ...after].map(({ targets }, atMinute) => ({ atMinute, targets }))
        const api = await healthyApi(looks.length - 1)
        return looks.map(({ atMinute, targets }) => ({ atMinute, targets: [...targets, ...(api[atMinute]?.targets ?? [])] }))
      }),
  },
  {
    alert: 'TrancheReleaseStalled',
    title: 'the new version crashes',
    play: () =>
      on({ nodes: 10, steps: wholeFleet }, async (stage) => {
        await stage.setImage('v2-bad-crash')
        return watch(stage, both, { minutes: 15 })
      }),
  },
  {
    alert: 'TrancheApprovalWaits',
    title: 'a paused first step waits for its approval for more than a day',
    play: () =>
      on({ nodes: 5 }, async (stage) => {
        await stage.setImage('v2')
        return watch(stage, both, { minutes: 26 * 60, everyMinutes: 10 })
      }),
  },
  {
    alert: 'TrancheReleaseStandsStill',
    title: 'no executor runs',
    play: () =>
      on({ nodes: 10, executors: [], steps: wholeFleet }, async (stage) => {
        await stage.setImage('v2')
        return watch(stage, ['controller-1'], { minutes: 45 })
      }),
  },
  {
    alert: 'TrancheBudgetExceeded',
    title: 'four nodes die while a step is paused, and two may be unavailable',
    play: () =>
      on({ nodes: 12, maxUnavailable: 2 }, async (stage) => {
        await stage.setImage('v2')
        await stage.pass(60_000)
        for (const node of ['node-003', 'node-004', 'node-005', 'node-006']) await drive(stage.clock, stage.simulator.nodes.kill(node))
        return watch(stage, both, { minutes: 20 })
      }),
  },
  {
    alert: 'TrancheNodesDownLong',
    title: 'pods of the new version may take fifteen minutes to start, and do',
    play: () =>
      on({ nodes: 4, steps: wholeFleet, policy: { failure: { progressDeadlineSeconds: 3_600 } } }, async (stage) => {
        const annotations = { 'sim.tranche.dev/start-ms': '900000' }
        await stage.patchDaemonSet({ spec: { template: { metadata: { annotations } } } })
        return watch(stage, both, { minutes: 40 })
      }),
  },
  ...both.map(
    (identity): AlertStory => ({
      alert: 'TrancheProcessAbsent',
      title: `${identity} is gone`,
      play: () =>
        on({ nodes: 3 }, async (stage) => {
          stage.program(identity).kill()
          return watch(stage, both, { minutes: 15 })
        }),
    }),
  ),
  {
    alert: 'TrancheNobodyLeads',
    title: 'the Lease may not be written',
    play: () =>
      on({ nodes: 3, controllers: ['controller-1', 'controller-2'] }, async (stage) => {
        stage.disturb(refuses(403, ({ resource }) => resource.resource === 'leases'))
        return watch(stage, ['controller-1', 'controller-2', 'executor-1'], { minutes: 10 })
      }),
  },
  {
    alert: 'TrancheDefinitionsOutdated',
    title: "the definitions are OpenKruise's",
    play: () =>
      on({ nodes: 3, withRollout: false, controllers: [] }, async (stage) => {
        await define(stage, 'theirs')
        await stage.startController('controller-1')
        return watch(stage, both, { minutes: 10 })
      }),
  },
  {
    alert: 'TrancheDeletesFail',
    title: 'an admission policy refuses deletions',
    play: () =>
      on({ nodes: 6, steps: wholeFleet }, async (stage) => {
        stage.disturb(refuses(403, ({ verb, resource }) => verb === 'delete' && resource.resource === 'pods'))
        await stage.setImage('v2')
        return watch(stage, both, { minutes: 25 })
      }),
  },
  {
    alert: 'TranchePassesFail',
    title: 'the status of Rollouts cannot be written',
    play: () =>
      on({ nodes: 3 }, async (stage) => {
        stage.disturb(refuses(500, ({ verb, resource }) => verb === 'update' && resource.resource === 'rollouts'))
        await stage.setImage('v2')
        return watch(stage, both, { minutes: 25 })
      }),
  },
  {
    alert: 'TrancheKeysWait',
    title: 'no worker processes the jobs of the queue',
    play: () =>
      on({ nodes: 3, queue: (queue) => ({ ...queue, process: () => ({ close: async () => undefined }) }) }, async (stage) => {
        await stage.setImage('v2')
        return watch(stage, both, { minutes: 20 })
      }),
  },
  {
    alert: 'TrancheApiServerRefuses',
    title: 'the right to patch DaemonSets is missing',
    play: () =>
      on({ nodes: 3 }, async (stage) => {
        stage.disturb(refuses(403, ({ verb, resource }) => verb === 'patch' && resource.resource === 'daemonsets'))
        await stage.setImage('v2')
        return watch(stage, both, { minutes: 30 })
      }),
  },
  {
    alert: 'TrancheApiServerFails',
    title: 'the API server answers 503',
    play: () =>
      on({ nodes: 3, controllers: ['controller-1', 'controller-2'] }, async (stage) => {
        stage.disturb(refuses(503, () => true))
        return watch(stage, ['controller-1', 'controller-2', 'executor-1'], { minutes: 25 })
      }),
  },
  {
    alert: 'TrancheWatchSilent',
    title: 'the watch of pods does not come back',
    play: () =>
      on({ nodes: 3 }, async (stage) => {
        stage.disturb(refuses(503, ({ verb, resource }) => verb === 'watch' && resource.resource === 'pods'))
        return watch(stage, both, { minutes: 30 })
      }),
  },
  ...webhookStories,
  ...apiStories,
]

/** Rejects matching requests of Tranche's programs with this code. */
function refuses(code: number, matches: (call: Parameters<NonNullable<FaultInjector['onRequest']>>[0]) => boolean): FaultInjector {
  const reason = code === 403 ? 'Forbidden' : code === 503 ? 'ServiceUnavailable' : 'InternalError'
  return {
    onRequest: (call) =>
      /^(controller|executor)-/.test(call.actor) && matches(call)
        ? { kind: 'error', error: new ApiStatusError(code, reason, 'an injected fault') }
        : undefined,
  }
}

async function on(options: StageOptions, play: (stage: Stage) => Promise<readonly Look[]>): Promise<readonly Look[]> {
  const stage = await setStage({ ...options, counts: true })
  try {
    return await play(stage)
  } finally {
    await stage.end()
  }
}
