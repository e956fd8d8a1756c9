// The buttons below an editor of a record: save, and remove where there is something to remove.
// Must not know what the record is.

interface SaveButtonsProps {
  /** Declared in the configuration file. */
  readonly isFixed: boolean
  readonly save: string
  /** The word of the button that removes it; undefined for a new record. */
  readonly removal: string | undefined
  readonly remove: () => void
}

export const SaveButtons = ({ isFixed, removal, remove, save }: SaveButtonsProps) =>
  isFixed ? (
    <p class="muted whole">It is declared in the configuration file, so it is changed there.</p>
  ) : (
    <>
      <button type="submit" class="primary">
        {save}
      </button>
      {removal === undefined ? null : (
        <button type="button" class="danger" onClick={remove}>
          {removal}
        </button>
      )}
    </>
  )
