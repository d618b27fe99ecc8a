import type { DoctorFinding } from '@tranche/api-schema'
import { durationText } from '@tranche/clock'
import type { ClusterSigns } from '../signs/cluster-signs.ts'
import { deniedText, isDenied } from '../signs/guarded-reads.ts'
import type { InstalledPod } from '../signs/installed-signs.ts'
import type { Examiner } from './examiner.ts'
import { notLookedAt } from './not-looked-at.ts'

/** Maximum age of an executor's last write that shows that it runs, in milliseconds. */
const LATELY_MS = 120_000
/** Time without writes after which an incomplete batch shows that no executor runs, in milliseconds. */
const IDLE_MS = 120_000

/** Checks whether an executor runs, by its pods, else by its writes to releases. Pure. */
export function executorFinding({ installed, releases, nowMs, skewMs }: ClusterSigns): DoctorFinding {
  const start = 'Start one: tranche executor, or tranche all-in-one; docs/operations/processes.md says how they share work.'
  const pods = isDenied(installed) ? [] : installed.filter(({ component }) => component === 'executor' || component === 'all-in-one')
  const ready = pods.filter(({ isReady }) => isReady).length
  const undeleted = isDenied(releases) ? undefined : releases.find(({ isUndeleted }) => isUndeleted)
  if (ready > 0 && undeleted !== undefined)
    return {
      check: 'executor',
      state: 'problem',
      message: `${ready} of ${pods.length} executors ready, but they do not delete the pods of ${undeleted.namespace}/${undeleted.name}`,
      fix: 'Look in the log of the executors for deletions that the API server rejects: for a webhook, a policy or a missing permission.',
    }
  if (ready > 0) return { check: 'executor', state: 'ok', message: `${ready} of ${pods.length} executors ready` }
  if (pods.length > 0)
    return {
      check: 'executor',
      state: 'problem',
      message: `none of ${pods.length} executors is ready: releases do not progress`,
      fix: 'Check the pod with kubectl describe and kubectl logs.',
    }
  if (isDenied(releases)) return notLookedAt('executor', releases)
  const serverMs = nowMs + (skewMs ?? 0)
  const lately =
    undeleted !== undefined ? undefined : releases.find(({ executorMs }) => executorMs !== null && serverMs - executorMs < LATELY_MS)
  if (lately !== undefined) {
    const ago = durationText(Math.max(0, serverMs - (lately.executorMs ?? 0)))
    return { check: 'executor', state: 'ok', message: `an executor wrote the record of ${lately.namespace}/${lately.name} ${ago} ago` }
  }
  if (undeleted !== undefined)
    return {
      check: 'executor',
      state: 'problem',
      message: `the pods that executors may delete for ${undeleted.namespace}/${undeleted.name} are not deleted: no executor runs, or the API server rejects the deletions`,
      fix: `${start} If one runs, look in its log for deletions that a webhook, a policy or a missing permission rejects.`,
    }
  const idle = releases.find((one) => one.isIdle && one.writtenMs > 0 && serverMs - one.writtenMs > IDLE_MS)
  if (idle !== undefined)
    return {
      check: 'executor',
      state: 'problem',
      message: `the batch of ${idle.namespace}/${idle.name} has nodes to update, but made no progress for ${durationText(serverMs - idle.writtenMs)}: no executor seems to run`,
      fix: `${start} Check whether it waits for something else:`,
      command: `tranche explain rollout/${idle.name} -n ${idle.namespace}`,
    }
  const why = isDenied(installed) ? deniedText(installed) : 'the chart has no pods here'
  return {
    check: 'executor',
    state: isDenied(installed) ? 'unknown' : 'note',
    message: `unknown whether one runs: ${why}, and no release in progress shows it`,
  }
}

/** Checks that the pods of the chart and the program that checks have the same version. Pure. */
export function versionsFinding({ installed }: ClusterSigns, { name, version: own }: Examiner): DoctorFinding {
  if (isDenied(installed)) return notLookedAt('versions', installed)
  if (installed.length === 0)
    return {
      check: 'versions',
      state: 'note',
      message: `${name} is ${own}; the chart has no pods here to compare with`,
    }
  const running = Map.groupBy(installed, ({ version }) => version ?? 'of unknown version')
  const text = [...running].map(([version, pods]) => `${componentsText(pods)} ${version}`).join(', ')
  const versions = [...running.keys(), own]
  if (versions.every((version) => version === own)) return { check: 'versions', state: 'ok', message: `${text}, like ${name}` }
  const isTooFar = versions.some((one) => versions.some((other) => !mayStandBeside(one, other)))
  return {
    check: 'versions',
    state: isTooFar ? 'problem' : 'note',
    message: `${text}, and ${name} is ${own}`,
    fix: 'Use one version; docs/operations/upgrade.md says which may run together.',
  }
}

function componentsText(pods: readonly InstalledPod[]): string {
  const names = [...new Set(pods.map(({ component }) => component))]
  return `${new Intl.ListFormat('en').format(names).replace(', and ', ' and ')} ${pods.length === 1 ? 'is' : 'are'}`
}

/** Adjacent minor versions may run together; text that is not a version is not compared. */
function mayStandBeside(one: string, other: string): boolean {
  const [a, b] = [one, other].map((version) => /^(\d+)\.(\d+)\./.exec(version))
  if (!a || !b) return true
  return a[1] === b[1] && Math.abs(Number(a[2]) - Number(b[2])) <= 1
}

/** Reports on the Redis of the options, else on that of the pods. Pure. */
export function redisFinding({ redis }: ClusterSigns): DoctorFinding {
  if (isDenied(redis)) return notLookedAt('redis', redis)
  switch (redis.kind) {
    case 'asked':
      if (redis.problem !== null) return { check: 'redis', state: 'problem', ...redis.problem }
      if (redis.advice !== null) return { check: 'redis', state: 'note', ...redis.advice }
      return { check: 'redis', state: 'ok', message: `Redis ${redis.of}accepts connections and writes of the queue` }
    case 'several':
      return {
        check: 'redis',
        state: 'problem',
        message: `controllers and executors use different Redis servers, so executors get no work: ${redis.names.join(', ')}`,
        fix: 'Give all of them the same --redis.',
      }
    case 'hidden':
      return {
        check: 'redis',
        state: 'unknown',
        message: `${redis.name} was not checked: ${redis.why}`,
        fix: 'helm test checks it from inside the cluster; tranche doctor --redis URL checks it from your machine.',
      }
    case 'none':
      return { check: 'redis', state: 'ok', message: 'no pod of the chart uses Redis' }
    case 'unknown':
      return {
        check: 'redis',
        state: 'note',
        message: 'not checked: the chart has no pods here that could name a Redis',
        fix: 'tranche doctor checks it if --redis URL or TRANCHE_REDIS_URL names it.',
      }
  }
}
