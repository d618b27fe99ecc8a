import type { DoctorFinding } from '@tranche/api-schema'
import { CORDON_ANNOTATION, DRAIN_CONDITION, GROUP_LABEL, type ObjectKey, PRE_PULL_LABEL } from '@tranche/kube-types'
import type { ClusterSigns } from '../signs/cluster-signs.ts'
import { isDenied } from '../signs/guarded-reads.ts'
import type { LeftWork, MarkedNode } from '../signs/left-work-signs.ts'
import { namesText } from './check-left.ts'
import { notLookedAt } from './not-looked-at.ts'

/** Maximum number of nodes in a command. */
const MOST_NODES = 50

const WITHOUT_CONDITION = JSON.stringify({ status: { conditions: [{ type: DRAIN_CONDITION, $patch: 'delete' }] } })

/** Reports what programs that do not run any more did on nodes and for groups, with the command that removes each. Pure. */
export function leftWorkFindings({ leftWork }: Pick<ClusterSigns, 'leftWork'>): readonly DoctorFinding[] {
  return leftWork === null ? [] : [...nodeFindings(leftWork), ...helperFindings(leftWork), ...leaseFindings(leftWork)]
}

function nodeFindings({ nodes }: LeftWork): readonly DoctorFinding[] {
  if (isDenied(nodes)) return [notLookedAt('left', nodes)]
  const cordoned = nodes.filter(({ isCordoned }) => isCordoned)
  const marked = nodes.filter(({ isCordoned, condition }) => !isCordoned && condition !== 'alone')
  const shown = nodes.filter(({ condition }) => condition !== undefined)
  return [
    ...(cordoned.length > 0
      ? [
          {
            ...left(`no executor runs to end the drain of ${nodesText(cordoned)}, which no pod is scheduled to`),
            fix: `Start the executors again; or make the nodes schedulable, and remove the marks${partText(cordoned)}:`,
            command: `kubectl uncordon ${argumentsOf(cordoned)} && ${unmark(cordoned)}`,
          },
        ]
      : []),
    ...(marked.length > 0
      ? [
          {
            ...left(`no executor runs to remove its mark from ${nodesText(marked)}`),
            fix: `Start the executors again; or remove the marks, which leaves the nodes as schedulable as they are${partText(marked)}:`,
            command: unmark(marked),
          },
        ]
      : []),
    ...(shown.length > 0
      ? [
          {
            ...left(`no executor runs to remove its condition ${DRAIN_CONDITION} from ${nodesText(shown)}`),
            fix: `Start the executors again; or remove the condition${partText(shown)}:`,
            command: `kubectl patch nodes ${argumentsOf(shown)} --subresource=status -p '${WITHOUT_CONDITION}'`,
          },
        ]
      : []),
  ]
}

function helperFindings({ helpers }: LeftWork): readonly DoctorFinding[] {
  if (isDenied(helpers)) return [notLookedAt('left', helpers)]
  if (helpers.length === 0) return []
  return [
    {
      ...left(`no executor runs to delete helper pods of prePull: Pod ${namesText(helpers)}`),
      fix: 'Start the executors again; or delete them, in which nothing runs:',
      command: `kubectl delete pods ${placeOf(helpers)} -l ${PRE_PULL_LABEL}`,
    },
  ]
}

function leaseFindings({ leases }: LeftWork): readonly DoctorFinding[] {
  if (isDenied(leases)) return [notLookedAt('left', leases)]
  if (leases.length === 0) return []
  return [
    {
      ...left(`no controller runs to give groups up: Lease ${namesText(leases)}`),
      // G13: without its Lease, a release that is still open and another one of the group run together.
      fix: 'Start a controller again, which gives them up in time; or delete them, if none is to run here any more:',
      command: `kubectl delete leases ${placeOf(leases)} -l ${GROUP_LABEL}`,
    },
  ]
}

function left(message: string): Pick<DoctorFinding, 'check' | 'state' | 'message'> {
  return { check: 'left', state: 'problem', message }
}

function placeOf(objects: readonly ObjectKey[]): string {
  const namespaces = new Set(objects.map(({ namespace }) => namespace))
  return namespaces.size === 1 ? `-n ${[...namespaces][0]}` : '-A'
}

function nodesText(nodes: readonly MarkedNode[]): string {
  const [first] = nodes
  return nodes.length === 1 ? `node ${first?.name}` : `${nodes.length} nodes, such as ${first?.name}`
}

function argumentsOf(nodes: readonly MarkedNode[]): string {
  return nodes
    .slice(0, MOST_NODES)
    .map(({ name }) => name)
    .join(' ')
}

/** A command for every node of a large fleet would be too long to copy. */
function partText(nodes: readonly MarkedNode[]): string {
  return nodes.length > MOST_NODES ? `, ${MOST_NODES} at a time; run doctor again for the others` : ''
}

function unmark(nodes: readonly MarkedNode[]): string {
  return `kubectl annotate nodes ${argumentsOf(nodes)} ${CORDON_ANNOTATION}-`
}
