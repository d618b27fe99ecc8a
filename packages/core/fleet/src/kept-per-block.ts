import type { FleetView, NodeBlock } from './fleet-view.ts'

/** A count over the nodes of a view. */
export interface BlockCount<Question, Answer> {
  /** Counts one block; depends only on its arguments. */
  readonly count: (block: NodeBlock, question: Question) => Answer
  /** Whether an answer to `known` is also the answer to `asked`, for the same block. */
  readonly holds: (known: Question, asked: Question, answer: Answer) => boolean
}

/**
 * Makes a count incremental: caches the answer for a block while the block and the question stay the same. Blocks are immutable, so
 * the result equals that of a full count.
 *
 * The cache keeps a question as long as a block that was counted for it. A question must not hold a view, which would keep all
 * earlier views in memory.
 *
 * @returns the answers of the blocks of a view, in order
 */
export function keptPerBlock<Question, Answer>(
  how: BlockCount<Question, Answer>,
): (view: FleetView, question: Question) => readonly Answer[] {
  const kept = new WeakMap<NodeBlock, { readonly question: Question; readonly answer: Answer }>()
  return (view, question) =>
    view.blocks.map((block) => {
      const known = kept.get(block)
      if (known !== undefined && how.holds(known.question, question, known.answer)) return known.answer
      const answer = how.count(block, question)
      kept.set(block, { question, answer })
      return answer
    })
}
