import type { RecordedPod, RecordedWrite } from '../../record/recorded-write.ts'
import type { DaemonSetStory } from '../../world/daemon-set-story.ts'
import type { World } from '../../world/world.ts'

/** Templates of which a pod was Ready on a wanted node. */
export interface RanTemplates {
  /** Follows a write of a pod, before it is applied to the world. */
  followPod(write: RecordedWrite): void
  /** Whether a pod of this revision, or of its template, has been Ready on a node that was wanted then, or is now. */
  hasRun(story: DaemonSetStory, hash: string): boolean
}

/** Starts with none. */
export function createRanTemplates(world: World): RanTemplates {
  const ran = new Map<DaemonSetStory, Set<string>>()

  /** A revision that is deleted and recreated has another hash and the same template. */
  function namesOf(hash: string): readonly string[] {
    const template = world.templateOf(hash)
    return template === undefined ? [`hash ${hash}`] : [`hash ${hash}`, `template ${template}`]
  }

  /** A pod may have been Ready before its node was wanted. */
  function runsNow(story: DaemonSetStory, name: string): boolean {
    return [...story.nodes()].some(
      ({ wanted, pods }) => wanted && [...pods.values()].some(({ last: { ready, hash = '' } }) => ready && namesOf(hash).includes(name)),
    )
  }

  return {
    followPod({ namespace, o }) {
      const { owner = '', ready, node = '', hash } = o as unknown as RecordedPod
      const story = world.story(namespace, owner)
      if (story === undefined || !ready || hash === undefined || story.node(node)?.wanted !== true) return
      const known = ran.get(story) ?? new Set()
      ran.set(story, known)
      for (const name of namesOf(hash)) known.add(name)
    },
    hasRun: (story, hash) => namesOf(hash).some((name) => ran.get(story)?.has(name) === true || runsNow(story, name)),
  }
}
