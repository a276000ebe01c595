"""The database itself refuses a public run without enough approvals, and approvals that do not fit their run.

A change of the reading or the verdict makes open approvals void, and those of a run under embargo.
"""

from django.db import migrations

CREATE = """
CREATE FUNCTION needs_approvals(run results_run) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
    SELECT run.visibility IN ('public', 'superseded', 'embargoed')
        AND run.tier <> 'published'
        AND NOT run.is_demo
        AND NOT (run.submission_id IS NULL AND run.reading_id IS NULL)
$$;

CREATE FUNCTION check_new_approval() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    approved results_run;
    submitted results_submission;
    vendor_name text;
    newest bigint;
    barred bigint[];
BEGIN
    SELECT * INTO approved FROM results_run WHERE id = NEW.run_id;
    SELECT id INTO newest FROM results_verdict WHERE run_id = NEW.run_id ORDER BY created_at DESC, id DESC LIMIT 1;
    IF NEW.reading_id IS DISTINCT FROM approved.reading_id OR NEW.verdict_id IS DISTINCT FROM newest THEN
        RAISE EXCEPTION 'approval of run %: expected its current reading % and verdict %, got % and %',
            approved.public_id, approved.reading_id, newest, NEW.reading_id, NEW.verdict_id
            USING ERRCODE = 'check_violation';
    END IF;
    SELECT * INTO submitted FROM results_submission WHERE id = approved.submission_id;
    IF submitted.submitted_by_id = NEW.reviewer_id THEN
        RAISE EXCEPTION 'approval of run %: its reviewer submitted it', approved.public_id
            USING ERRCODE = 'check_violation';
    END IF;
    SELECT vendor INTO vendor_name FROM results_product WHERE id = approved.product_id;
    SELECT array_agg(organisation_id) INTO barred FROM (
        SELECT organisation_id FROM results_maker WHERE lower(spelling) = lower(vendor_name)
        UNION SELECT submitted.organisation_id WHERE submitted.id IS NOT NULL
    ) AS linked;
    IF NOT coalesce(barred, '{}') <@ NEW.barred_organisations THEN
        RAISE EXCEPTION 'approval of run %: expected all of % among its barred organisations, got %',
            approved.public_id, barred, NEW.barred_organisations USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER approval_fits_its_run BEFORE INSERT ON results_approval
    FOR EACH ROW EXECUTE FUNCTION check_new_approval();

CREATE FUNCTION check_approval_change() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    fixed results_approval := OLD;
BEGIN
    IF TG_OP = 'UPDATE' THEN
        fixed.carried_out_at := NEW.carried_out_at;
        fixed.voided_at := NEW.voided_at;
        fixed.void_reason := NEW.void_reason;
        IF NEW = fixed AND OLD.voided_at IS NULL
            AND (OLD.carried_out_at IS NULL OR NEW.carried_out_at = OLD.carried_out_at) THEN
            RETURN NEW;
        END IF;
    END IF;
    RAISE EXCEPTION 'results_approval: % refused; an approval is carried out once, and made void once', TG_OP
        USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER approval_changes_once BEFORE UPDATE OR DELETE ON results_approval
    FOR EACH ROW EXECUTE FUNCTION check_approval_change();

CREATE FUNCTION void_approvals_of(changed_run bigint) RETURNS void LANGUAGE sql AS $$
    UPDATE results_approval AS approval SET voided_at = statement_timestamp(), void_reason = 're-evaluated'
    FROM results_run AS run
    WHERE run.id = approval.run_id AND approval.run_id = changed_run AND approval.voided_at IS NULL
        AND (approval.carried_out_at IS NULL OR run.visibility IN ('embargoed'))
$$;
CREATE FUNCTION void_on_new_reading() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM void_approvals_of(NEW.id);
    RETURN NULL;
END $$;
CREATE TRIGGER new_reading_voids_approvals AFTER UPDATE OF reading_id ON results_run
    FOR EACH ROW WHEN (OLD.reading_id IS DISTINCT FROM NEW.reading_id) EXECUTE FUNCTION void_on_new_reading();
CREATE FUNCTION void_on_new_verdict() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM void_approvals_of(NEW.run_id);
    RETURN NULL;
END $$;
CREATE TRIGGER new_verdict_voids_approvals AFTER INSERT OR UPDATE OF run_id, outcome, headline, document
    ON results_verdict FOR EACH ROW EXECUTE FUNCTION void_on_new_verdict();

-- `since` limits the steps to those that the current transaction carried out; null counts earlier ones, too.
CREATE FUNCTION has_approvals(of_run bigint, steps text[], since timestamptz) RETURNS boolean LANGUAGE sql AS $$
    SELECT EXISTS (
        SELECT FROM results_approval
        WHERE run_id = of_run AND step = ANY (steps) AND voided_at IS NULL AND carried_out_at IS NOT NULL
            AND (since IS NULL OR carried_out_at = since)
        GROUP BY successor_id, reading_id, verdict_id
        HAVING count(DISTINCT reviewer_id) >= max(reviews_needed)
    )
$$;

CREATE FUNCTION refuse_unapproved_run() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    changed results_run;
    steps text[] := '{publish,embargo}';
    since timestamptz := CURRENT_TIMESTAMP;
BEGIN
    SELECT * INTO changed FROM results_run WHERE id = NEW.id;
    IF NOT FOUND OR NOT needs_approvals(changed) OR NOT needs_approvals(NEW) THEN
        RETURN NULL;
    END IF;
    IF TG_OP = 'UPDATE' AND OLD.visibility IN ('embargoed') THEN
        since := NULL;
    ELSIF TG_OP = 'UPDATE' AND OLD.visibility IN ('withdrawn') THEN
        steps := '{reinstate}';
    ELSIF TG_OP = 'UPDATE' AND OLD.visibility IN ('superseded') AND NEW.visibility IN ('public') THEN
        steps := '{unsupersede}';
    ELSIF TG_OP = 'UPDATE' AND OLD.visibility IN ('public') AND NEW.visibility IN ('superseded') THEN
        steps := '{supersede}';
    END IF;
    IF changed.predates_approvals AND 'publish' = ANY (steps) THEN
        RETURN NULL;
    END IF;
    IF NOT has_approvals(changed.id, steps, since) THEN
        RAISE EXCEPTION 'run % is %: expected enough approvals of its reading and verdict for one of %, found too few',
            changed.public_id, changed.visibility, steps USING ERRCODE = 'check_violation';
    END IF;
    RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER public_run_has_approvals_on_insert AFTER INSERT ON results_run
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
    WHEN (NEW.tier <> 'published' AND (NEW.submission_id IS NOT NULL OR NEW.reading_id IS NOT NULL)
        AND NEW.visibility <> 'unreviewed')
    EXECUTE FUNCTION refuse_unapproved_run();
CREATE CONSTRAINT TRIGGER public_run_has_approvals AFTER UPDATE OF visibility ON results_run
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
    WHEN (OLD.visibility IS DISTINCT FROM NEW.visibility)
    EXECUTE FUNCTION refuse_unapproved_run();

CREATE FUNCTION refuse_void_approval_of_public_run() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    approved results_run;
BEGIN
    SELECT * INTO approved FROM results_run WHERE id = NEW.run_id;
    IF needs_approvals(approved) AND NOT approved.predates_approvals AND NOT (
        has_approvals(approved.id, '{publish,embargo}', NULL) OR has_approvals(approved.id, '{reinstate}', NULL)
    ) THEN
        RAISE EXCEPTION 'run % is %: its approvals cannot become void', approved.public_id, approved.visibility
            USING ERRCODE = 'check_violation';
    END IF;
    RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER public_run_keeps_approvals AFTER UPDATE OF voided_at ON results_approval
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
    WHEN (OLD.carried_out_at IS NOT NULL)
    EXECUTE FUNCTION refuse_void_approval_of_public_run();
"""

DROP = """
DROP TRIGGER public_run_keeps_approvals ON results_approval;
DROP FUNCTION refuse_void_approval_of_public_run();
DROP TRIGGER public_run_has_approvals ON results_run;
DROP TRIGGER public_run_has_approvals_on_insert ON results_run;
DROP FUNCTION refuse_unapproved_run();
DROP FUNCTION has_approvals(bigint, text[], timestamptz);
DROP TRIGGER new_verdict_voids_approvals ON results_verdict;
DROP FUNCTION void_on_new_verdict();
DROP TRIGGER new_reading_voids_approvals ON results_run;
DROP FUNCTION void_on_new_reading();
DROP FUNCTION void_approvals_of(bigint);
DROP TRIGGER approval_changes_once ON results_approval;
DROP FUNCTION check_approval_change();
DROP TRIGGER approval_fits_its_run ON results_approval;
DROP FUNCTION check_new_approval();
DROP FUNCTION needs_approvals(results_run);
"""


class Migration(migrations.Migration):
    dependencies = [("results", "0033_decisions_before_approvals")]

    operations = [migrations.RunSQL(CREATE, DROP)]
