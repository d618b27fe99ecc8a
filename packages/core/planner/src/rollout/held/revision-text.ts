import { type ControllerRevision, type PodTemplate, clipText } from '@tranche/kube-types'
import { discoverRevisions, hashOf, templateOf } from '../../release/view/discover-revisions.ts'
import type { RolloutView } from '../view/rollout-view.ts'

/** @returns a revision for people: `59c84f48cd (node-agent:v1)`; the hash alone where the history has lost it */
export function revisionText(revisions: readonly ControllerRevision[], hash: string): string {
  const images = imagesText(revisions.find((revision) => hashOf(revision) === hash))
  return images === '' ? hash : `${hash} (${images})`
}

/**
 * @returns the present template of the DaemonSet for people: its revision and images, or the images alone until the DaemonSet controller has
 *   observed it
 */
export function presentTemplateText({ daemonSet, revisions, fleet }: RolloutView): string {
  if (daemonSet === undefined) return 'the template'
  const found = discoverRevisions({ daemonSet, revisions, fleet, lastStable: undefined })
  if (found.kind !== 'pending') return `revision ${revisionText(revisions, found.canary)}`
  const images = templateImages(daemonSet.spec.template)
  return images === '' ? 'the template' : `the template with ${images}`
}

/** A template may name an image of any length. A message with it must fit into a status several times, or the status write fails. */
const LONGEST_IMAGES = 256

/** @returns the images of a revision without their registries, containers in order, cut to 256 characters; empty where it holds none */
export function imagesText(revision: ControllerRevision | undefined): string {
  return templateImages(revision === undefined ? undefined : (templateOf(revision) as PodTemplate | undefined))
}

function templateImages(template: PodTemplate | undefined): string {
  const images = (template?.spec?.containers ?? []).flatMap(({ image }) => image ?? [])
  const text = images.map((image) => image.slice(image.lastIndexOf('/') + 1)).join(', ')
  return clipText(text, LONGEST_IMAGES)
}
