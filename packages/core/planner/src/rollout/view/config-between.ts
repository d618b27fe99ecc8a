import { changedPins } from '@tranche/config'
import type { ControllerRevision } from '@tranche/kube-types'
import { hashOf } from '../../release/view/discover-revisions.ts'
import { plainTemplate } from '../../release/view/stable-template.ts'
import { firstNodes } from '../../release/progress/unwell-text.ts'

/**
 * Says which pinned objects have another content in the revision that a rollback restores.
 *
 * @returns such as `; ConfigMap agent has its earlier content again`; empty where no content differs, or where the history has lost a revision
 */
export function configReturnText(revisions: readonly ControllerRevision[], from: string, to: string): string {
  const [was, is] = [from, to].map((hash) => revisions.find((one) => hashOf(one) === hash))
  if (was === undefined || is === undefined) return ''
  const changed = changedPins(plainTemplate(was), plainTemplate(is))
  if (changed.length === 0) return ''
  const names = firstNodes(changed)
  return changed.length === 1 ? `; ${names} has its earlier content again` : `; ${names} have their earlier content again`
}
