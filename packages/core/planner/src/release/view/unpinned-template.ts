import { PINNED_CONFIG_ANNOTATION, pinsOf } from '@tranche/config'
import type { ControllerRevision, PodTemplate } from '@tranche/kube-types'
import { templateOf, templateText } from './discover-revisions.ts'
import { plainTemplate } from './stable-template.ts'

/** @returns a text that is the same for revisions which differ only in the copies of config that they name */
export function unpinnedText(revision: ControllerRevision): string {
  const template = (plainTemplate(revision) ?? {}) as PodTemplate
  const { [PINNED_CONFIG_ANNOTATION]: _pins, ...annotations } = template.metadata?.annotations ?? {}
  return templateText({ ...template, metadata: { ...template.metadata, annotations } })
}

/** Whether a revision names no copies, and another one is the same with copies: the controller named them before a pod ran it, or would again. */
export function wasPinned(revision: ControllerRevision, all: readonly ControllerRevision[]): boolean {
  if (pinsOf(templateOf(revision)).size > 0) return false
  return all.some((one) => pinsOf(templateOf(one)).size > 0 && unpinnedText(one) === unpinnedText(revision))
}
