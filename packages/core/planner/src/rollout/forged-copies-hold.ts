import { type ConfigHold, pinsOf } from '@tranche/config'
import { firstNodes } from '../release/progress/unwell-text.ts'
import { isRollingBack } from './held/way-back.ts'
import type { RolloutView } from './view/rollout-view.ts'

/**
 * Why even a rollback holds: the stable template names copies that another client has replaced. Its pods would read content that was never pinned, and no
 * user has released. Outside of a rollback, the template gets other copies.
 *
 * @param forged names of copies that belong to objects with other content, as `ConfigMap/agent-1`
 * @returns null without one that the template names
 */
export function forgedCopiesHold(view: RolloutView, forged: readonly string[]): ConfigHold | null {
  const { daemonSet } = view
  if (forged.length === 0 || daemonSet === undefined || !isRollingBack(view)) return null
  const found = [...pinsOf(daemonSet.spec.template)].flatMap(([key, copy]) => {
    const [kind = '', object = ''] = key.split('/', 2)
    return forged.includes(`${kind}/${copy}`) ? [`${kind} ${copy} (copy of ${object})`] : []
  })
  if (found.length === 0) return null
  const message = `config: Pin: another client has replaced copies that the stable template names, and pods would read content that was not pinned: ${firstNodes(found)}. Delete each of these objects: its copy is made again if its source still has the content that was pinned. If not, create the copy again from a backup, or apply another template`
  return { reason: 'RollbackInProgress', message, holdsRollback: true }
}
