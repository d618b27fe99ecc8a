import type { FleetView, NodeBlock } from './fleet-view.ts'

/** How something is counted over the nodes of a view. */
export interface BlockCount<Question, Answer> {
  /** Counts one block; depends on its arguments alone. */
  readonly count: (block: NodeBlock, question: Question) => Answer
  /** Whether an answer given to `known` is the answer to `asked` as well, for the same block. */
  readonly holds: (known: Question, asked: Question, answer: Answer) => boolean
}

/**
 * Makes a count incremental: the answer for a block is kept as long as the block and the question stay the same, so that
 * asking again costs what has changed. As blocks never change, what comes out is what counting from scratch gives.
 *
 * A question is kept as long as a block that was counted for it: it must not hold a view, which would keep the one before it,
 * and so on.
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
