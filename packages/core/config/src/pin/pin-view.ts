import type { ConfigContent, ConfigSource, CopyOwner } from './config-copy.ts'
import type { ConfigKind } from '../config-fields.ts'

/** Result of reading an object that a template names; `unread`: it could not be read, with the reason. */
export type SourceReading =
  | { readonly kind: 'found'; readonly source: ConfigSource }
  | { readonly kind: 'absent' }
  | { readonly kind: 'unread'; readonly why: string }

/** A copy that the DaemonSet owns. */
export interface ExistingCopy {
  readonly kind: ConfigKind
  readonly name: string
  readonly uid: string
  readonly resourceVersion: string
  /** Name of the object that was copied. */
  readonly source: string
  /** Part of its name that no other client could foresee; undefined in most names. */
  readonly salt: string | undefined
  /** Whether it carries the mark of a copy that is about to be deleted. */
  readonly isUnused: boolean
  /** Undefined where it was not read: the name alone says what the copy holds, or that is not asked. */
  readonly content?: ConfigContent | undefined
}

/** Everything that a pass over the config of one DaemonSet has read. */
export interface PinView {
  readonly owner: CopyOwner
  /** Kinds of objects that the installation lets Tranche copy; others stay as they are. */
  readonly kinds: readonly ConfigKind[]
  readonly template: unknown
  /** Value of {@link OFFERED_CONFIG_ANNOTATION}; undefined before the first offer. */
  readonly offered: string | undefined
  /** Readings of the objects that the template names, by {@link pinKey}. */
  readonly sources: ReadonlyMap<string, SourceReading>
  /** Copies without those in `forged`. */
  readonly copies: readonly ExistingCopy[]
  /** Uids in {@link RECORDED_COPIES_ANNOTATION}; undefined without the annotation. */
  readonly recorded: ReadonlySet<string> | undefined
  /** Names of copies that belong to objects with other content, or with content that nothing vouches for: `ConfigMap/agent-1`. */
  readonly forged: readonly string[]
  /** Salts for the names of copies that belong to other objects, by the {@link pinKey} of these. None of them is among the copies. */
  readonly taken: ReadonlyMap<string, string>
  /** Templates of all ControllerRevisions, and of the stable revision where it is kept elsewhere. */
  readonly revisions: readonly unknown[]
  /** Pods of the DaemonSet, also terminating ones. */
  readonly pods: readonly unknown[]
  /** Whether the DaemonSet controller has observed the present generation: it makes no revision of an earlier template any more. */
  readonly isObserved: boolean
}
