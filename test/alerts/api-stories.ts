import { aSummary, type ApiStage, startTestApi, readsOf } from '../../apps/api/test/fixtures.ts'
import { createApiMetrics } from '../../apps/api/src/http/metrics.ts'
import type { Look } from './watching.ts'

/** Faults of the REST API. Each request takes real time, but the scrapes are labelled one minute apart. */
export const apiStories = [
  {
    alert: 'TrancheApiAbsent',
    title: 'the REST API does not answer',
    play: async (): Promise<readonly Look[]> => minutes(15).map((atMinute) => lookAt(atMinute, null)),
  },
  {
    alert: 'TrancheApiErrors',
    title: 'the API server of the cluster cannot authenticate callers',
    play: () =>
      behind(async ({ app, breakReviews, as }) => {
        breakReviews('gone')
        await app.inject({ url: '/api/v1/rollouts', headers: as('viewer') })
      }),
  },
  {
    alert: 'TrancheApiSlow',
    title: 'each request takes longer than a second',
    play: () => behind(({ app }) => app.inject({ url: '/readyz' }), { isSynced: () => busyFor(1_100) }),
  },
] as const

/** Scrapes of a healthy REST API. */
export function healthyApi(count: number): Promise<readonly Look[]> {
  return behind(({ app }) => app.inject({ url: '/readyz' }), { count })
}

interface Asking {
  /** Duration in minutes. @default 14, after which an alert with `for: 10m` has fired */
  readonly count?: number
  readonly isSynced?: () => boolean
}

async function behind(
  ask: (api: ApiStage) => Promise<unknown>,
  { count = 14, isSynced = () => true }: Asking = {},
): Promise<readonly Look[]> {
  const metrics = createApiMetrics()
  const api = await startTestApi(readsOf([aSummary()]), { parts: { metrics, isSynced } })
  try {
    const looks: Look[] = []
    for (const atMinute of minutes(count)) {
      await ask(api)
      looks.push(lookAt(atMinute, await metrics.text()))
    }
    return looks
  } finally {
    await api.end()
  }
}

function lookAt(atMinute: number, text: string | null): Look {
  return { atMinute, targets: [{ job: 'tranche-api', instance: 'api-1', text }] }
}

function minutes(count: number): readonly number[] {
  return Array.from({ length: count + 1 }, (_, minute) => minute)
}

/** Blocks the process for this number of milliseconds. */
function busyFor(ms: number): true {
  const endMs = performance.now() + ms
  while (performance.now() < endMs);
  return true
}
