import type { ActionBody, ActionType, RolloutReport } from '@tranche/api-schema'
import { counted } from '../../../format/duration.ts'
import { versionOf } from '../../../format/image-change.ts'

/** How an action is asked for. */
export interface ActionText {
  /** Text of its button. */
  readonly label: string
  /** Question of its confirmation. */
  readonly question: string
  /** What it does to the release, one sentence each. */
  readonly effects: readonly string[]
  /** Whether the user must type the name of the Rollout: the action reaches every node, or puts another version on them. */
  readonly mustTypeName: boolean
  /** Whether a forecast shows what would happen. */
  readonly hasForecast: boolean
}

/** Order of the buttons: what goes on, then what stops, then what changes the version. */
export const actionOrder: readonly ActionType[] = ['approve', 'resume', 'retry', 'pause', 'promote', 'jump', 'abort', 'undo', 'restart']

/** Says what an action would do to a Rollout now. */
export function textOfAction(type: ActionType, report: RolloutReport, isFull = false): ActionText {
  const { name, step, steps, nodes } = report
  const next = step === undefined ? undefined : steps.find(({ index }) => index === step.index + 1)
  const version = report.images.map(versionOf).join(', ')
  const stable = report.stableImages?.map(versionOf).join(', ')
  const left = Math.max(0, nodes.desired - nodes.updated)
  switch (type) {
    case 'approve':
      return {
        label: 'Approve',
        question: `Approve step ${step?.index ?? 1} of ${name}?`,
        effects: [
          next === undefined
            ? `The remaining ${counted(left, 'node')} get ${version}.`
            : `Step ${next.index} begins: up to ${counted(next.nodes, 'node')} run ${version}.`,
        ],
        mustTypeName: false,
        hasForecast: true,
      }
    case 'resume':
      return {
        label: 'Resume',
        question: `Resume ${name}?`,
        effects: [`The release of ${version} goes on where it paused.`],
        mustTypeName: false,
        hasForecast: true,
      }
    case 'retry':
      return {
        label: 'Retry',
        question: `Retry ${version} on ${name}?`,
        effects: ['The stop is lifted. Failures so far no longer count; new ones do.', `The release of ${version} goes on.`],
        mustTypeName: false,
        hasForecast: true,
      }
    case 'pause':
      return {
        label: 'Pause',
        question: `Pause ${name}?`,
        effects: ['Nothing more is deleted, also in the batch that runs. Pods that already stop come back with the new version.'],
        mustTypeName: false,
        hasForecast: false,
      }
    case 'promote':
      return {
        label: 'Promote…',
        question: isFull ? `Promote ${name} in full?` : `Promote ${name} without its remaining pauses?`,
        effects: [
          `The remaining ${counted(left, 'node')} get ${version} without asking again.`,
          isFull
            ? 'Soak and analysis are skipped too.'
            : 'Each step must still be available before the next begins; soak and analysis stay.',
          'The budget of unavailable nodes always applies.',
        ],
        mustTypeName: true,
        hasForecast: true,
      }
    case 'jump':
      return {
        label: 'Jump…',
        question: `Go to another step of ${name}?`,
        effects: ['Nodes that are updated stay updated.'],
        mustTypeName: false,
        hasForecast: false,
      }
    case 'abort':
      return {
        label: 'Abort…',
        question: `Abort the release of ${version} and roll back?`,
        effects: [
          `${counted(nodes.updated, 'node')} with ${version} go back${stable === undefined ? '' : ` to ${stable}`}, unhealthy ones first, within the budget and without pauses.`,
          `${version} is blocked: applying it again does not release it until somebody retries.`,
        ],
        mustTypeName: true,
        hasForecast: false,
      }
    case 'undo':
      return {
        label: 'Roll back…',
        question: `Roll ${name} back to an earlier revision?`,
        effects: ['The pod template of that revision is applied again, as an ordinary release with its steps.'],
        mustTypeName: true,
        hasForecast: false,
      }
    case 'restart':
      return {
        label: 'Restart…',
        question: `Restart every pod of ${name}?`,
        effects: [`All ${counted(nodes.desired, 'pod')} are replaced with the same version, in batches with the pauses of the steps.`],
        mustTypeName: true,
        hasForecast: true,
      }
  }
}

/** Choices of a user for an action. */
export interface ActionChoice {
  readonly reason: string
  readonly isFull: boolean
  /** Target of a jump. */
  readonly step: number | null
  /** Target of an undo: controller-revision-hash. */
  readonly toRevision: string | null
}

/**
 * Builds the body of an action for the release as the user saw it when the dialog opened: if it has moved on since, the server refuses it.
 *
 * @param seen report at that moment
 * @param templateRevision revision of the current template of the DaemonSet, for an undo
 */
export function bodyOfAction(
  type: ActionType,
  seen: RolloutReport,
  choice: ActionChoice,
  templateRevision: string | undefined,
): ActionBody {
  const { step, canaryRevision } = seen
  const reason = choice.reason.trim()
  const isForStep = type === 'approve' || type === 'jump' || type === 'promote'
  const isForRevision = isForStep || type === 'abort' || type === 'retry'
  return {
    ...(reason !== '' && { reason }),
    ...(isForStep && step !== undefined && { expectedStep: step.index }),
    ...(isForRevision && canaryRevision !== undefined && { revision: canaryRevision }),
    ...(type === 'promote' && choice.isFull && { full: true }),
    ...(type === 'jump' && choice.step !== null && { step: choice.step }),
    ...(type === 'undo' && choice.toRevision !== null && { toRevision: choice.toRevision }),
    ...(type === 'undo' && templateRevision !== undefined && { revision: templateRevision }),
  }
}
