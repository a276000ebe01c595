"""Pure arithmetic and rules, without database: limits, certificates, comparisons and YCSB.

Verdicts on runs are not made here but in Rust, in runners/drivetest/crates/logs/src/judge. The load ladder of a product
is in webapp/register/product_pages, the loads of a campaign are in runners/campaigns.
"""
